import { pauseSender, storeProviderChanges, type Sender } from '@onecode/store';
import { buildSender, TEST_ACTOR, until } from '@onecode/testing';
import { useWorker } from './testWorker.js';

const ACCOUNT = '102290129340398';
const TEMPLATE = 'verification_code';

describe('what the provider tells by webhook', () => {
  const t = useWorker({ senders: 0 });
  let sender: Sender;
  beforeEach(async () => {
    await t.environment.db.sql(
      'truncate provider_changes, business_accounts, message_templates, sender_language_stops',
    );
    await t.environment.db.sql('update senders set business_account_id = null');
    sender = await buildSender(t.environment.db.database, { businessAccountId: ACCOUNT });
  });

  const changeTemplate = (language: string, values: object) =>
    t.environment.simulator.business.changeTemplate({ wabaId: ACCOUNT, name: TEMPLATE, language }, values);
  const changeAccount = (values: object) => t.environment.simulator.business.changeAccount(ACCOUNT, values);
  const stopped = (locale: string) =>
    t.environment.db.sql(
      `select source, reason from sender_language_stops where sender_id = $1 and locale = $2 and coalesce(stopped_until, 'infinity') > now()`,
      [sender.id, locale],
    );
  const pauseOf = async () => {
    const [row] = await t.environment.db.sql(
      'select paused_at is not null as paused, pause_source as source, pause_reason as reason from senders where id = $1',
      [sender.id],
    );
    return row!;
  };
  const send = async (locale: 'en' | 'pt-BR') =>
    t.environment.send(await t.environment.caller(), {
      locale,
      recipient: `+55119876${Math.floor(10_000 + Math.random() * 89_999)}`,
    });

  it.each(['PAUSED', 'DISABLED', 'REJECTED', 'ARCHIVED'] as const)(
    'stops a template that is %s for its language before a send fails, and its return starts it again',
    async (status) => {
      await changeTemplate('en', { status });
      await until('a stop', async () => (await stopped('en')).length === 1);
      expect(await stopped('en')).toMatchObject([
        { source: 'webhook', reason: expect.stringContaining(status) },
      ]);
      const english = await send('en');
      await t.environment.until(english, (row) => row.awaiting_sender);
      await t.environment.until(await send('pt-BR'), 'delivered');
      expect(await t.environment.attempts(english)).toEqual([]);

      await changeTemplate('en', { status: 'APPROVED' });
      await t.environment.until(english, 'delivered');
      expect(await t.environment.attempts(english)).toMatchObject([{ outcome: 'accepted' }]);
    },
  );

  it('stops a template that is put into another category', async () => {
    const alerts = await t.worker.count('onecode_configuration_faults_total', { scope: 'template' });
    await changeTemplate('pt_BR', { category: 'MARKETING' });
    await until('a stop', async () => (await stopped('pt-BR')).length === 1);
    expect(await stopped('pt-BR')).toMatchObject([{ reason: expect.stringContaining('MARKETING') }]);
    expect(await t.worker.count('onecode_configuration_faults_total', { scope: 'template' })).toBe(
      alerts + 1,
    );
    await changeTemplate('pt_BR', { category: 'AUTHENTICATION' });
    await until('no stop', async () => (await stopped('pt-BR')).length === 0);
  });

  it.each(['restricted', 'disabled'] as const)(
    'pauses all senders of a business account that is %s, until it says otherwise',
    async (condition) => {
      const other = await buildSender(t.environment.db.database, { businessAccountId: '7' });
      const twin = await buildSender(t.environment.db.database, { businessAccountId: ACCOUNT });
      await changeAccount({ condition });
      await until('a pause', async () => (await pauseOf())['paused'] === true);
      expect(await pauseOf()).toMatchObject({
        source: 'webhook',
        reason: expect.stringContaining(condition),
      });
      expect((await t.environment.sender(twin.id)).paused_at).not.toBeNull();
      expect((await t.environment.sender(other.id)).paused_at).toBeNull();
      await changeAccount({ condition: 'active' });
      await until('no pause', async () => (await pauseOf())['paused'] === false);
      expect((await t.environment.sender(twin.id)).paused_at).toBeNull();
    },
  );

  it('neither ends nor replaces a pause of an operator', async () => {
    await pauseSender(t.environment.db.database, TEST_ACTOR, sender.id, 'why');
    await changeAccount({ condition: 'disabled' });
    await changeAccount({ condition: 'active' });
    await until('two changes', async () => {
      const rows = await t.environment.db.sql(`select from provider_changes where result = 'applied'`);
      return rows.length === 2;
    });
    expect(await pauseOf()).toEqual({ paused: true, source: 'operator', reason: 'why' });
  });

  it('keeps what an operator paused meanwhile', async () => {
    await changeAccount({ condition: 'disabled' });
    await until('a pause', async () => (await pauseOf())['source'] === 'webhook');
    await pauseSender(t.environment.db.database, TEST_ACTOR, sender.id, 'why');
    await changeAccount({ condition: 'active' });
    await until('no change', async () => {
      const rows = await t.environment.db.sql(`select from provider_changes where result is null`);
      return rows.length === 0;
    });
    expect(await pauseOf()).toEqual({ paused: true, source: 'operator', reason: 'why' });
  });

  it('is stored once, however often it comes, and applied in any order', async () => {
    const change = (event: string, time: number) => ({
      digest: Buffer.from(event),
      businessAccountId: ACCOUNT,
      field: 'message_template_status_update',
      value: { event, message_template_name: TEMPLATE, message_template_language: 'en' },
      occurredAt: new Date(time),
    });
    const changes = [change('APPROVED', Date.now() - 1_000), change('PAUSED', Date.now() - 9_000)];
    expect(await storeProviderChanges(t.environment.db.database, changes.toReversed())).toBe(2);
    expect(await storeProviderChanges(t.environment.db.database, changes)).toBe(0);
    await until('two changes', async () => {
      const rows = await t.environment.db.sql(`select from provider_changes where result = 'applied'`);
      return rows.length === 2;
    });
    expect(await stopped('en')).toEqual([]);
  });

  it('notes the business account of a number from its receipts', async () => {
    await t.environment.db.sql('update senders set business_account_id = null where id = $1', [sender.id]);
    await t.environment.until(await send('en'), 'delivered');
    const [row] = await t.environment.db.sql('select business_account_id as id from senders where id = $1', [
      sender.id,
    ]);
    expect(row).toEqual({ id: ACCOUNT });
  });
});
