import { newId } from '@onecode/store/client';
import { placeHold } from '@onecode/store/holds';
import { applyProviderReport, resumeSender } from '@onecode/store/senders';
import {
  blockSender,
  buildCaller,
  buildSend,
  buildSender,
  startTcpProxy,
  TEST_ACTOR,
  testRedisUrl,
  until,
  type TcpProxy,
} from '@onecode/testing';
import type { HealthView } from '../../src/features/health/view.js';
import { startConsole, type StartedConsole } from '../console.js';
import { openTestQueues, type TestQueues } from '../queues.js';
import { person, type TestPerson } from '../people.js';

let server: StartedConsole;
let redis: TcpProxy;
let jobs: TestQueues;
let onCall: TestPerson;
beforeAll(async () => {
  // A console starts without Redis too.
  redis = await startTcpProxy(testRedisUrl(), 'cut');
  server = await startConsole({ REDIS_URL: redis.url });
  await redis.open();
  jobs = await openTestQueues(server.prefix);
  onCall = await person(server, { staff: 'on_call' });
});
afterAll(async () => {
  await server.close();
  await jobs.close();
  await redis.close();
});

/** Waits until the page would show a finding. */
function untilSeen(what: string, look: (view: HealthView) => boolean): Promise<HealthView> {
  return until(what, async () => {
    const { status, body } = await onCall.get<HealthView>('/staff/health');
    expect(status).toBe(200);
    return look(body) && body;
  });
}

describe('the health page’s statistics', () => {
  it('count real sends, senders and jobs, and contain no whole phone number', async () => {
    const { database } = server.db;
    const caller = await buildCaller(database, 'live', { credits: 10 });
    await buildSender(database, { number: '+15550783881' });
    await placeHold(database, TEST_ACTOR, { kind: 'account', target: caller.accountId, reason: 'a drill' });
    const [held] = [await buildSend(database, caller), await buildSend(database, caller)];
    await server.db.sql("update sends set phase = 'waiting', due_at = expires_at where id = $1", [held]);
    await jobs.failedJob();
    await jobs.queues.of('deliver').add('deliver', { sendId: newId() });

    const view = await untilSeen(
      'the sends',
      ({ waiting, queues, senders }) =>
        waiting?.held.count === 1 &&
        waiting.due.count === 1 &&
        queues?.[0]?.waiting === 1 &&
        senders?.length === 1,
    );
    expect(view.states.held).toBe('degraded');
    expect(view.findings.map(({ name }) => name)).toContain('paused_by_operator');
    expect(view.queues?.[0]).toMatchObject({ name: 'deliver', isPaused: false, waiting: 1, failed: 1 });
    expect(view.senders).toEqual([expect.objectContaining({ state: 'active', blocks: [] })]);
    expect(view.attempts).toHaveLength(30);
    expect(JSON.stringify(view)).not.toMatch(/5550783881|5511987654321/);
  });

  it('show a country and a sender with more messages that never arrive than in the week before', async () => {
    const { id } = await buildSender(server.db.database);
    await server.db.sql(
      `insert into delivery_hours (hour, country, sender_id, accepted, undelivered)
       select date_bin('1 hour', now(), 'epoch') - make_interval(hours => hours), 'BR', $1, 200, undelivered
       from (values (3, 60), (40, 10)) v (hours, undelivered)`,
      [id],
    );
    const messages = {
      lastDay: { accepted: 200, undelivered: 60 },
      weekBefore: { accepted: 200, undelivered: 10 },
    };
    const named = ({ findings }: HealthView) => findings.filter(({ name }) => name === 'deliveries_missing');
    const view = await untilSeen('missing deliveries', (seen) => named(seen).length > 0);
    expect(named(view)).toMatchObject([
      { cause: 'country', severity: 'degraded', deliveries: { country: 'BR', ...messages } },
      { cause: 'sender', severity: 'degraded', deliveries: { senderId: id, ...messages } },
    ]);
    expect(view.states.receipts).toBe('degraded');
    await server.db.sql('truncate delivery_hours');
    await untilSeen('their end', (seen) => named(seen).length === 0);
  });

  it('show the senders with messages that Meta held for a quarter of an hour', async () => {
    const { database } = server.db;
    const { id } = await buildSender(database, { number: '+15550783877' });
    const send = await buildSend(database, await buildCaller(database, 'live', { credits: 9 }));
    await server.db.sql(
      `insert into attempts (send_id, number, sender_id, outcome, message_status, started_at, finished_at)
       select $1, n, $2, 'accepted', 'held_for_quality_assessment', at, at
       from generate_series(1, 6) n, lateral (select now() - make_interval(mins => n * 5)) t (at)`,
      [send, id],
    );
    const named = ({ findings }: HealthView) => findings.filter(({ name }) => name === 'messages_held');
    const view = await untilSeen('held messages', (seen) => named(seen).length > 0);
    expect(named(view)).toMatchObject([
      {
        owner: 'meta',
        severity: 'degraded',
        holding: [{ senderId: id, number: '+1 ••••• 3877', messages: 6 }],
      },
    ]);
    expect(view.states.senders).toBe('degraded');
    await server.db.sql('update attempts set message_status = null where send_id = $1', [send]);
    await untilSeen('their end', (seen) => named(seen).length === 0);
  });

  it('show which template Meta paused, when, how many senders still serve its language, and which number has a low quality', async () => {
    const { database } = server.db;
    const sender = await buildSender(database, { number: '+15550783899', businessAccountId: '88' });
    const serving = (await server.db.sql('select from senders where business_account_id is null')).length;
    const at = new Date('2026-11-20T02:14:00Z');
    const template = { name: 'verification_code', language: 'en' };
    const report = (status: string) => ({ ...template, about: 'template', values: { status } }) as const;
    await applyProviderReport(database, '88', report('PAUSED'), at);
    const low = { about: 'number', displayNumber: '15550783899', values: { quality: 'RED' } } as const;
    await applyProviderReport(database, '88', low, at);
    // A call that gets the same error does not hide it.
    await blockSender(database, sender, { onlyFor: 'en', errorCode: 132_015, isConfiguration: true });
    const view = await untilSeen(
      'the template and its sender',
      ({ senders, findings }) =>
        senders?.some(({ blocks }) => blocks.length > 1) === true &&
        findings.some(({ name }) => name === 'sender_quality_low'),
    );
    expect(view.findings.find(({ name }) => name === 'sender_quality_low')).toMatchObject({
      lowQuality: [{ number: '+1 ••••• 3899' }],
    });
    expect(view.findings.find(({ name }) => name === 'senders_blocked')).toMatchObject({
      cause: 'template',
      check: 'senders',
      holdsUp: 'forSender',
      explanation: null,
      since: at.toISOString(),
      template: { template: template.name, language: 'en', status: 'PAUSED', serving },
      blocks: [{ number: '+1 ••••• 3899', onlyFor: 'en' }],
      senders: serving + 1,
    });
    await applyProviderReport(database, '88', report('APPROVED'), new Date());
    const ended = new Set(['senders_blocked', 'sender_misconfigured']);
    await untilSeen('its return', ({ findings }) => findings.every(({ name }) => !ended.has(name)));
  });

  it('show one incident for one cause, with the affected accounts and the start, and keep it as history for a day', async () => {
    const { database } = server.db;
    await server.db.sql('delete from senders');
    const caller = await buildCaller(database, 'live', { credits: 10 });
    const sender = await buildSender(database, { number: '+15550783877' });
    await buildSend(database, caller);
    await server.db.sql("update sends set phase = 'waiting', due_at = expires_at where account_id = $1", [
      caller.accountId,
    ]);
    const reason = 'The sender’s access token has expired or is not valid.';
    await blockSender(database, sender, { errorCode: 190, reason, isConfiguration: true });
    const view = await untilSeen(
      'the refused token and the send that waits',
      ({ at, findings, waiting }) =>
        // Problems of less than a second are not in the history.
        findings.some(
          ({ name, since }) => name === 'sender_misconfigured' && Date.parse(at) - Date.parse(since) > 3_000,
        ) && waiting?.forSender.count === 1,
    );
    const incidents = view.findings.filter(({ holdsUp }) => holdsUp === 'forSender');
    expect(incidents).toMatchObject([
      {
        name: 'sender_misconfigured',
        owner: 'us',
        since: expect.any(String),
        senders: 1,
        blocks: [{ senderId: sender.id, number: '+1 ••••• 3877', errorCode: 190, until: expect.any(String) }],
        explanation: { name: '190', remedy: expect.stringContaining('new access token') },
      },
    ]);
    expect(view.waiting?.forSender).toMatchObject({
      count: 1,
      accounts: 1,
      expirySeconds: expect.any(Number),
    });
    // No backlog is fine while no sender may send.
    expect([view.states.senders, view.states.forSender]).toEqual(['failing', 'failing']);
    const past = ({ history }: HealthView) =>
      history.filter(({ finding }) => finding.name === 'sender_misconfigured');
    expect(past(view)).toEqual([]);

    const current = ({ findings }: HealthView) =>
      findings.find(({ name }) => name === 'sender_misconfigured');
    const { incidentId, since } = current(view)!;
    const acknowledge = `/staff/health/incidents/${incidentId}/acknowledge`;
    expect((await onCall.post(acknowledge, { note: ' new token ordered ' })).status).toBe(204);
    const acknowledged = { by: onCall.email, at: expect.any(String), note: 'new token ordered' };
    expect(
      current(await untilSeen('the note', (seen) => current(seen)?.acknowledged !== null)),
    ).toMatchObject({
      acknowledged,
      since,
      needsOperator: true,
    });

    await resumeSender(database, TEST_ACTOR, sender.id);
    const after = await untilSeen('its end', (seen) => current(seen) === undefined);
    expect(past(after)).toMatchObject([{ beganAt: since, endedAt: expect.any(String), acknowledged }]);
    // It starts again: it is the same incident, and not in the history.
    await blockSender(database, sender, { errorCode: 190, reason, isConfiguration: true });
    const again = await untilSeen('its return', (seen) => current(seen)?.incidentId === incidentId);
    expect([current(again)!.since, past(again)]).toEqual([since, []]);
    await resumeSender(database, TEST_ACTOR, sender.id);
  });

  it('show that Redis is unavailable next to the other statistics, and the queue board shows it within seconds', async () => {
    // Redis has two seconds for each response; the rest is for a busy machine.
    const board = (path: string): Promise<Response> =>
      fetch(`${server.url}/board${path}`, {
        headers: { cookie: onCall.cookie },
        signal: AbortSignal.timeout(8_000),
      });
    redis.cut();
    const away = await untilSeen('the loss of Redis', ({ redisMs }) => redisMs === null);
    expect(away.findings.find(({ name }) => name === 'redis_unhealthy')).toMatchObject({
      owner: 'redis',
      severity: 'degraded',
      cause: 'unavailable',
    });
    expect([away.queues, away.states.redis]).toEqual([null, 'degraded']);
    expect([away.postgresqlMs, away.waiting, away.provider]).not.toContain(null);
    await until('the loss on the board', async () => (await board('/api/queues')).status === 503);
    expect(await (await board('/api/queues')).text()).toContain('Redis is unavailable');
    expect((await board('')).status).toBe(200);

    await redis.open();
    redis.freeze();
    expect((await board('/api/queues/deliver/1')).status).toBeGreaterThanOrEqual(500);
    expect((await untilSeen('a frozen Redis', ({ redisMs }) => redisMs === null)).waiting).not.toBeNull();
    await redis.open();
    await untilSeen('Redis’ return', ({ redisMs }) => redisMs !== null);
    await until('its return on the board', async () => (await board('/api/queues')).status === 200);
  });

  it('show a hanging query as missing, and do not start it again in the meantime', async () => {
    const blocked = server.db
      .sql('do $$ begin lock table provider_reports in access exclusive mode; perform pg_sleep(60); end $$')
      .catch(() => {});
    const view = await untilSeen('receipts that cannot be read', ({ receipts }) => receipts === null);
    expect([view.waiting, view.provider, view.postgresqlMs]).not.toContain(null);
    await onCall.get('/staff/health');
    expect(await server.db.countLockWaits()).toBe(1);
    await server.db.sql(
      "select pg_cancel_backend(pid) from pg_stat_activity where query like 'do $$%pg_sleep(60)%' and pid <> pg_backend_pid()",
    );
    await blocked;
    await untilSeen('receipts again', ({ receipts }) => receipts !== null);
  });
});
