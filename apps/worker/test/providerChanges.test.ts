import { preflight, type ProviderChange, type ProviderReport, type SenderKnowledge } from '@onecode/domain';
import {
  applyProviderReport,
  listSenderKnowledge,
  pauseSender,
  requestReading,
  type Sender,
} from '@onecode/store/senders';
import { storeReports } from '@onecode/store/sends';
import { buildSender, TEST_ACTOR, until } from '@onecode/testing';
import { readDueSenders } from '../src/senders.js';
import { useWorker } from './testWorker.js';

// The ids and the template of the simulator.
const PORTFOLIO = '506914307656634';
const ACCOUNT = '102290129340398';
const TEMPLATE = 'verification_code';

describe('a change in a webhook', () => {
  const t = useWorker({ senders: 0 });
  let sender: Sender;
  beforeEach(async () => {
    await t.sql('truncate provider_reports, provider_facts, sender_blocks');
    await t.sql('update senders set business_account_id = null');
    sender = await buildSender(t.database, { businessAccountId: ACCOUNT });
  });

  const changeTemplate = (language: string, values: object) =>
    t.simulator.business.changeTemplate({ wabaId: ACCOUNT, name: TEMPLATE, language }, values);
  const changeAccount = (values: object) => t.simulator.business.changeAccount(ACCOUNT, values);
  const blocked = async (onlyFor: string, { id } = sender) =>
    (await t.blocks(id)).filter((block) => block.onlyFor === onlyFor);
  const pauses = (one = sender) => blocked('', one);
  const store = (changes: readonly ProviderChange[]) =>
    storeReports(t.database, { receipts: [], denials: [], changes }, null);
  const untilApplied = () =>
    until('the end of all changes', async () => (await t.sql('select from provider_reports')).length === 0);
  const send = async (locale: 'en' | 'pt-BR') =>
    t.send(await t.newCaller(), {
      locale,
      recipient: `+55119876${Math.floor(10_000 + Math.random() * 89_999)}`,
    });

  it('blocks a paused template for its language before a send fails, and unblocks it when it is active again', async () => {
    await changeTemplate('en', { status: 'PAUSED' });
    await until('a block', async () => (await blocked('en')).length === 1);
    expect(await blocked('en')).toMatchObject([
      { source: 'provider', reason: expect.stringContaining('PAUSED') },
    ]);
    const english = await send('en');
    await t.until(english, (row) => row.phase === 'waiting');
    await t.until(await send('pt-BR'), 'delivered');
    expect(await t.attempts(english)).toEqual([]);

    await changeTemplate('en', { status: 'APPROVED' });
    await t.until(english, 'delivered');
    expect(await t.attempts(english)).toMatchObject([{ outcome: 'accepted' }]);
  });

  it('blocks a template that is moved to another category', async () => {
    await changeTemplate('pt_BR', { category: 'MARKETING' });
    await until('a block', async () => (await blocked('pt-BR')).length === 1);
    expect(await blocked('pt-BR')).toMatchObject([{ reason: expect.stringContaining('MARKETING') }]);
    await changeTemplate('pt_BR', { category: 'AUTHENTICATION' });
    await until('no block', async () => (await blocked('pt-BR')).length === 0);
  });

  it('pauses all senders of a restricted business account until the restriction ends', async () => {
    const other = await buildSender(t.database, { businessAccountId: '7' });
    const twin = await buildSender(t.database, { businessAccountId: ACCOUNT });
    await changeAccount({ condition: 'restricted' });
    await until('a pause', async () => (await pauses()).length === 1);
    expect(await pauses()).toMatchObject([
      {
        cause: 'provider',
        source: 'provider',
        reason: expect.stringContaining('ACCOUNT_RESTRICTION'),
        until: null,
      },
    ]);
    expect(await pauses(twin)).toHaveLength(1);
    expect(await pauses(other)).toEqual([]);
    await changeAccount({ condition: 'active' });
    await until('no pause', async () => (await pauses()).length === 0);
    expect(await pauses(twin)).toEqual([]);
  });

  it('neither ends nor replaces a pause of an operator', async () => {
    await pauseSender(t.database, TEST_ACTOR, sender.id, 'why');
    await changeAccount({ condition: 'disabled' });
    await until('another pause', async () => (await pauses()).length === 2);
    await changeAccount({ condition: 'active' });
    await until('its end', async () => (await pauses()).length === 1);
    expect(await pauses()).toMatchObject([{ source: 'operator', reason: 'why' }]);
  });

  it('keeps a pause that an operator set in the meantime', async () => {
    await changeAccount({ condition: 'disabled' });
    await until('a pause', async () => (await pauses()).length === 1);
    await pauseSender(t.database, TEST_ACTOR, sender.id, 'why');
    await changeAccount({ condition: 'active' });
    await untilApplied();
    expect(await pauses()).toMatchObject([{ source: 'operator', reason: 'why' }]);
  });

  it('is stored, newest first, regardless of the rest of the same post', async () => {
    const changes = [
      ['message_template_status_update', { event: 'PAUSED', message_template_name: 'a'.repeat(100_000) }],
      ['account_update', { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SCAM' } }],
      ['account_update', { event: 'ACCOUNT_VIOLATION', waba_info: { waba_id: '999' } }],
      [
        'account_alerts',
        {
          entity_type: 'BUSINESS',
          entity_id: '5',
          alert_info: {
            alert_severity: 'CRITICAL',
            alert_status: 'ACTIVE',
            alert_type: 'OBA_REJECTED',
            alert_description: 'No.',
          },
        },
      ],
    ];
    const time = Math.floor(Date.now() / 1000);
    const post = (some: unknown[][], at: number) =>
      t.simulator.postWebhook({
        object: 'whatsapp_business_account',
        entry: [{ id: ACCOUNT, time: at, changes: some.map(([field, value]) => ({ field, value })) }],
      });
    expect(await post(changes, time - 9)).toBe(200);
    expect(await post([['account_update', { event: 'VOLUME_BASED_PRICING_TIER_UPDATE' }]], time)).toBe(200);
    const alerts = async () => (await listSenderKnowledge(t.database, sender.id))[0]!.alerts;
    await until('all alerts', async () => (await alerts()).length === 3);
    const at = new Date((time - 9) * 1000).toISOString();
    const [newest, ...others] = await alerts();
    expect(newest).toMatchObject({ type: 'VOLUME_BASED_PRICING_TIER_UPDATE' });
    expect(others.toSorted((a, b) => a.type.localeCompare(b.type))).toEqual([
      { type: 'ACCOUNT_VIOLATION', severity: null, detail: 'violation_type: SCAM', at },
      { type: 'OBA_REJECTED', severity: 'CRITICAL', detail: 'No.', at },
    ]);
  });

  it('has the same result in any order and with repeats', async () => {
    const change = (status: string, time: number): ProviderChange => ({
      businessAccountId: ACCOUNT,
      report: { template: { name: TEMPLATE, language: 'en', values: { status } } },
      occurredAt: new Date(time),
    });
    const changes = [change('APPROVED', Date.now() - 1_000), change('PAUSED', Date.now() - 9_000)];
    await store(changes.toReversed());
    await untilApplied();
    expect(await blocked('en')).toEqual([]);
    await store(changes.slice(1));
    await untilApplied();
    expect(await blocked('en')).toEqual([]);
  });
});

describe('a change that cannot be written', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });

  it('does not delay other changes', async () => {
    const sender = await buildSender(t.database, { businessAccountId: '7' });
    await t.sql('truncate provider_reports, provider_facts');
    await t.sql(`alter table provider_facts add constraint refuse check (template <> 'refused')`);
    const change = (report: ProviderReport): ProviderChange => ({
      businessAccountId: '7',
      report,
      occurredAt: new Date(),
    });
    const changes = [
      change({ template: { name: 'refused', language: 'en', values: { status: 'PAUSED' } } }),
      ...['1', '2', '3'].map((type) => change({ alert: { type, severity: null, detail: null } })),
    ];
    await storeReports(t.database, { receipts: [], denials: [], changes }, null);
    await t.sweep();
    expect(await t.sql('select tries from provider_reports')).toEqual([{ tries: 1 }]);
    const [knowledge] = await listSenderKnowledge(t.database, sender.id);
    expect(knowledge!.alerts.map(({ type }) => type).toSorted()).toEqual(['1', '2', '3']);
  });
});

describe('a report about the numbers of a business account', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });

  it('changes only the senders of this business account', async () => {
    const sender = await buildSender(t.database, { businessAccountId: '7' });
    const report = (businessAccountId: string) =>
      applyProviderReport(
        t.database,
        businessAccountId,
        { numbers: { messagingLimit: 'TIER_2K' } },
        new Date(),
      );
    const limit = async () =>
      (await listSenderKnowledge(t.database, sender.id))[0]!.number.messagingLimit?.value;
    await report('999');
    expect(await limit()).toBeUndefined();
    await report('7');
    expect(await limit()).toBe('TIER_2K');
  });
});

describe('a read of a sender from the provider', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });
  let sender: Sender;
  beforeEach(async () => {
    await t.sql('truncate provider_facts, sender_blocks, sender_permits');
    await t.sql('update senders set business_account_id = null');
    sender = await buildSender(t.database);
    await read();
  });

  const read = () => readDueSenders(t.context);
  const readAgain = async () => {
    const since = await requestReading(t.database, sender.id);
    await read();
    expect((await known()).triedAt!.getTime()).toBeGreaterThanOrEqual(since!.getTime());
  };
  const known = async (): Promise<SenderKnowledge> => (await listSenderKnowledge(t.database, sender.id))[0]!;
  const blocks = async () => (await t.blocks(sender.id)).map(({ onlyFor, source }) => ({ onlyFor, source }));
  const change = (language: string, values: object, options = { silent: true }) =>
    t.simulator.business.changeTemplate(
      { wabaId: ACCOUNT, name: 'verification_code', language },
      values,
      options,
    );
  /** Makes the stored facts older, so that a read within the same second counts. */
  const past = () =>
    t.sql(
      `update provider_facts set facts = regexp_replace(facts::text, '"at": ?"[^"]*"', '"at": "2026-01-01T00:00:00.000Z"', 'g')::jsonb
       where template <> ''`,
    );
  const checks = async () => preflight({ ...(await known()), codeValiditySeconds: 600, now: new Date() });
  const badOf = async () => (await checks()).filter(({ ok }) => !ok).map(({ check, name }) => [check, name]);

  it('finds a new sender’s number, business account and templates without problems', async () => {
    const { number, businessAccount, templates, failures, readAt, triedAt } = await known();
    expect(failures).toEqual({});
    expect(readAt).toEqual(triedAt);
    expect(number).toMatchObject({
      quality: { value: 'GREEN' },
      status: { value: 'CONNECTED' },
      messagingLimit: { value: 'TIER_UNLIMITED' },
      throughputLevel: { value: 'STANDARD' },
      canSend: { value: { can: 'AVAILABLE' } },
      token: { value: { isValid: true } },
    });
    expect(businessAccount).toMatchObject({
      isSubscribed: { value: true },
      verification: { value: 'VERIFIED' },
    });
    expect(
      templates.map(({ language, facts }) => [language, facts.status?.value, facts.ttlSeconds?.value]),
    ).toEqual([
      ['en', 'APPROVED', 600],
      ['en_US', 'APPROVED', 600],
      ['pt_BR', 'APPROVED', 600],
    ]);
    expect(await badOf()).toEqual([]);
    const [row] = await t.sql('select business_account_id, portfolio_id from senders where id = $1', [
      sender.id,
    ]);
    expect(row).toEqual({ business_account_id: ACCOUNT, portfolio_id: PORTFOLIO });
  });

  it('is repeated only when it is due, every ten minutes', async () => {
    const calls = t.tap.requests.length;
    await read();
    expect(t.tap.requests).toHaveLength(calls);
    const [row] = await t.sql<{ seconds: number }>(
      'select extract(epoch from read_due_at - now())::float8 as seconds from senders where id = $1',
      [sender.id],
    );
    expect(row!.seconds).toBeGreaterThan(570);
    expect(row!.seconds).toBeLessThanOrEqual(600);
  });

  it('blocks a paused template for its language without a webhook, and unblocks it', async () => {
    await past();
    await change('en', { status: 'PAUSED' });
    await readAgain();
    expect(await blocks()).toEqual([{ onlyFor: 'en', source: 'provider' }]);
    expect(await badOf()).toEqual([['template_en', 'template_status']]);
    await past();
    await change('en', { status: 'APPROVED' });
    await readAgain();
    expect(await blocks()).toEqual([]);
  });

  it('warns for a month before a template moves to another category', async () => {
    const announce = (nextCategory: string, at: Date) =>
      applyProviderReport(
        t.database,
        ACCOUNT,
        { template: { name: TEMPLATE, language: 'en', values: { nextCategory } } },
        at,
      );
    await announce('MARKETING', new Date(Date.now() - 32 * 86_400_000));
    expect(await badOf()).toEqual([]);
    await announce('MARKETING', new Date());
    expect(await badOf()).toEqual([['template_en', 'template_category_soon']]);
    expect(await blocks()).toEqual([]);
    await announce('AUTHENTICATION', new Date());
    expect(await badOf()).toEqual([]);
  });

  it('leaves the other due reads to the next run when it cannot be written', async () => {
    await t.sql('update senders set business_account_id = null where id = $1', [sender.id]);
    await t.sql(
      `alter table senders add constraint refuse check (id <> '${sender.id}' or business_account_id is null)`,
    );
    const other = await buildSender(t.database);
    await t.sql(`update senders set read_due_at = now() - interval '1 second'`);
    await expect(read()).rejects.toThrow();
    await read();
    await t.sql('alter table senders drop constraint refuse');
    expect((await listSenderKnowledge(t.database, other.id))[0]!.failures).toEqual({});
    const due = await t.sql('select id from senders where read_due_at <= now()');
    expect(due).toEqual([]);
  });

  it('blocks a deleted template', async () => {
    await past();
    await change('pt_BR', { status: 'DELETED' });
    await readAgain();
    expect(await blocks()).toEqual([{ onlyFor: 'pt-BR', source: 'provider' }]);
  });

  it('changes only the time and the failures of the last read when it fails', async () => {
    const before = await known();
    t.simulator.business.changeToken('test-token', { valid: false });
    await readAgain();
    const after = await known();
    expect(after.triedAt!.getTime()).toBeGreaterThan(before.triedAt!.getTime());
    expect(after.failures).toMatchObject({
      number: expect.stringContaining('190'),
      templates: expect.any(String),
    });
    expect({ ...after, number: { ...after.number, token: null } }).toEqual({
      ...before,
      number: { ...before.number, token: null },
      triedAt: after.triedAt,
      failures: after.failures,
    });
    expect(await badOf()).toContainEqual(['number_connected', 'not_read']);
    expect(await badOf()).toContainEqual(['token_valid', 'token_invalid']);
  });

  it('does not override a later webhook', async () => {
    await change('en', { status: 'PAUSED' }, { silent: false });
    await t.sweep();
    await until('a block', async () => (await blocks()).length === 1);
    expect(await blocks()).toEqual([{ onlyFor: 'en', source: 'provider' }]);
  });

  it('pauses a sender that may not send, and ends the pause', async () => {
    await t.simulator.business.changeAccount(ACCOUNT, { condition: 'payment_issue' }, { silent: true });
    await readAgain();
    expect(await blocks()).toEqual([{ onlyFor: '', source: 'provider' }]);
    await t.simulator.business.changeAccount(ACCOUNT, { condition: 'active' }, { silent: true });
    await readAgain();
    expect(await blocks()).toEqual([]);
  });

  it('lowers the throughput of a number that is also in the WhatsApp Business app', async () => {
    const throughput = async () =>
      (await t.sql<{ throughput: number }>('select throughput from senders where id = $1', [sender.id]))[0]!
        .throughput;
    await t.sql('update senders set throughput = 80 where id = $1', [sender.id]);
    await readAgain();
    expect(await throughput()).toBe(80);
    await t.simulator.business.changeSender(
      sender.phoneNumberId,
      { isOnBusinessApp: true },
      { silent: true },
    );
    await readAgain();
    expect(await throughput()).toBe(20);
  });

  it('blocks a disconnected business account until it is connected again', async () => {
    const report = (refusal: string | null, at: number) =>
      applyProviderReport(t.database, ACCOUNT, { businessAccount: { refusal } }, new Date(Date.now() + at));
    await report('ACCOUNT_OFFBOARDED', 1_000);
    expect(await blocks()).toEqual([{ onlyFor: '', source: 'provider' }]);
    await report(null, 2_000);
    expect(await blocks()).toEqual([]);
  });

  it('reports a template without a time to live, and accepts a one-tap button', async () => {
    await past();
    await change('en', { otpType: 'ONE_TAP', ttlSeconds: null });
    await readAgain();
    expect(await badOf()).toEqual([['template_ttl', 'ttl_unknown']]);
  });

  it('reports the remedy for each wrong part', async () => {
    const { business } = t.simulator;
    await past();
    await change('en', { otpType: null, ttlSeconds: 900, codeExpirationMinutes: 5 });
    await business.changeAccount(ACCOUNT, { subscribed: false }, { silent: true });
    await business.changePortfolio({ verificationStatus: 'UNVERIFIED' });
    await business.changeSender(sender.phoneNumberId, { qualityRating: 'RED' }, { silent: true });
    business.changeToken('test-token', { scopes: ['whatsapp_business_management'] });
    await readAgain();
    expect(await badOf()).toEqual([
      ['token_scopes', 'scopes_missing'],
      ['number_connected', 'number_quality'],
      ['template_en', 'template_button'],
      ['template_ttl', 'ttl_too_long'],
      ['template_footer', 'footer_differs'],
      ['webhook_subscribed', 'not_subscribed'],
      ['business_verified', 'not_verified'],
    ]);
  });
});
