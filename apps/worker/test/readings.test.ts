import { preflight } from '@onecode/domain';
import {
  isReadSince,
  listSenderKnowledge,
  requestReading,
  type Sender,
  type SenderKnowledge,
} from '@onecode/store';
import { buildSender, until } from '@onecode/testing';
import { createGraphReader } from '@onecode/whatsapp/graph';
import { readDueSenders } from '../src/readings.js';
import { useWorker } from './testWorker.js';

const ACCOUNT = '102290129340398';

describe('a read of what the provider knows', () => {
  const t = useWorker({ senders: 0, sweepPauseMs: null });
  let sender: Sender;
  beforeEach(async () => {
    await t.environment.db.sql(
      'truncate business_accounts, message_templates, sender_language_stops, sender_readings, sender_country_blocks, send_slots',
    );
    await t.environment.db.sql(
      'update senders set business_account_id = null, paused_at = now(), paused_until = null',
    );
    sender = await buildSender(t.environment.db.database);
    await read();
  });

  const read = () =>
    readDueSenders(
      t.worker.context,
      createGraphReader({ baseUrl: `${t.environment.tap.url}/v25.0`, timeoutMs: 5_000 }),
    );
  const readAgain = async () => {
    const since = await requestReading(t.environment.db.database, sender.id);
    await read();
    expect(await isReadSince(t.environment.db.database, sender.id, since!)).toBe(true);
  };
  const known = async (): Promise<SenderKnowledge> =>
    (await listSenderKnowledge(t.environment.db.database, sender.id))[0]!;
  const stops = () =>
    t.environment.db.sql(
      `select locale, source from sender_language_stops where sender_id = $1 and coalesce(stopped_until, 'infinity') > now()`,
      [sender.id],
    );
  const change = (language: string, values: object, options = { silent: true }) =>
    t.environment.simulator.business.changeTemplate(
      { wabaId: ACCOUNT, name: 'verification_code', language },
      values,
      options,
    );
  /** As if what is known were older, so that a read of the same second counts. */
  const past = () =>
    t.environment.db.sql(
      `update message_templates set facts = regexp_replace(facts::text, '"at": ?"[^"]*"', '"at": "2026-01-01T00:00:00.000Z"', 'g')::jsonb`,
    );
  const checks = async () =>
    preflight({
      ...(await known()),
      template: sender.template,
      englishTemplateLanguage: sender.englishTemplateLanguage,
      codeValiditySeconds: 600,
      recipients24h: 0,
      now: new Date(),
    });
  const badOf = async () => (await checks()).filter(({ ok }) => !ok).map(({ check, name }) => [check, name]);

  it('finds a new sender’s number, business account and templates, and all is well', async () => {
    const { number, businessAccount, templates, failures, readAt, triedAt } = await known();
    expect(failures).toEqual({});
    expect(readAt).toEqual(triedAt);
    expect(number).toMatchObject({
      quality: { value: 'GREEN', source: 'read' },
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
    const [row] = await t.environment.db.sql('select business_account_id as id from senders where id = $1', [
      sender.id,
    ]);
    expect(row).toEqual({ id: ACCOUNT });
  });

  it('is made again only when it is due, about every ten minutes', async () => {
    const calls = t.environment.tap.requests.length;
    await read();
    expect(t.environment.tap.requests).toHaveLength(calls);
    const [row] = await t.environment.db.sql<{ seconds: number }>(
      'select extract(epoch from due_at - now())::float8 as seconds from sender_readings where sender_id = $1',
      [sender.id],
    );
    expect(row!.seconds).toBeGreaterThan(450);
    expect(row!.seconds).toBeLessThan(730);
  });

  it('stops a paused template for its language where no webhook came, and starts it again', async () => {
    await past();
    await change('en', { status: 'PAUSED' });
    await readAgain();
    expect(await stops()).toEqual([{ locale: 'en', source: 'read' }]);
    expect(await badOf()).toEqual([['template_en', 'template_status']]);
    await past();
    await change('en', { status: 'APPROVED' });
    await readAgain();
    expect(await stops()).toEqual([]);
  });

  it('stops a template that is gone', async () => {
    await past();
    await change('pt_BR', { status: 'DELETED' });
    await readAgain();
    expect(await stops()).toEqual([{ locale: 'pt-BR', source: 'read' }]);
  });

  it('changes nothing but its age when it fails', async () => {
    const before = await known();
    t.environment.simulator.business.changeToken('test-token', { valid: false });
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

  it('does not outdo what a webhook says afterwards', async () => {
    await change('en', { status: 'PAUSED' }, { silent: false });
    await t.worker.sweep();
    await until('a stop', async () => (await stops()).length === 1);
    expect(await stops()).toEqual([{ locale: 'en', source: 'webhook' }]);
  });

  it('pauses a sender that may not send, and ends that', async () => {
    await t.environment.simulator.business.changeAccount(
      ACCOUNT,
      { condition: 'payment_issue' },
      { silent: true },
    );
    await readAgain();
    const paused = async () =>
      (
        await t.environment.db.sql('select pause_source as source from senders where id = $1', [sender.id])
      )[0];
    expect(await paused()).toEqual({ source: 'read' });
    await t.environment.simulator.business.changeAccount(ACCOUNT, { condition: 'active' }, { silent: true });
    await readAgain();
    expect(await paused()).toEqual({ source: null });
  });

  it('tells what to do about each part that is not as it should be', async () => {
    const { business } = t.environment.simulator;
    await past();
    await change('en', { otpType: null, ttlSeconds: 900, codeExpirationMinutes: 5 });
    await business.changeAccount(ACCOUNT, { subscribed: false }, { silent: true });
    await business.changePortfolio({ verificationStatus: 'UNVERIFIED' });
    await business.changeSender(sender.phoneNumberId, { status: 'FLAGGED' }, { silent: true });
    business.changeToken('test-token', { scopes: ['whatsapp_business_management'] });
    await readAgain();
    expect(await badOf()).toEqual([
      ['token_scopes', 'scopes_missing'],
      ['number_connected', 'number_status'],
      ['template_en', 'template_button'],
      ['template_ttl', 'ttl_too_long'],
      ['template_footer', 'footer_differs'],
      ['webhook_subscribed', 'not_subscribed'],
      ['business_verified', 'not_verified'],
    ]);
  });
});
