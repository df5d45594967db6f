import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  applyTestReports,
  blockSender,
  buildAccount,
  buildCaller,
  buildSend,
  buildSender,
  closedPort,
  refuseRequests,
  startProcess,
  startTcpProxy,
  tableContents,
  TEST_ACTOR,
  testRedisUrl,
  until,
  untilReady,
  type TcpProxy,
  type TestCaller,
} from '@onecode/testing';
import { newId } from '@onecode/store/client';
import { placeHold } from '@onecode/store/holds';
import { applyProviderReport, applySenderReading, resumeSender } from '@onecode/store/senders';
import { isApiKey, type SenderReading } from '@onecode/domain';
import { createApiKey } from '@onecode/store/accounts';
import type { OverviewView } from '../../src/features/overview/view.js';
import type { HealthView } from '../../src/features/health/view.js';
import type { SendersView } from '../../src/features/senders/view.js';
import type { ConflictingTemplate } from '../../src/features/settings/view.js';
import type { SearchView } from '../../src/features/search/view.js';
import type { NewKeyView } from '../../src/features/applications/view.js';
import { startConsole, useConsole, type StartedConsole } from '../console.js';
import { attempt, report } from '../delivery.js';
import { inSession, person, type TestPerson } from '../people.js';
import { openTestQueues, type TestQueues } from '../queues.js';

describe('overview', () => {
  const DAY_MS = 86_400_000;
  const MESSAGE = 'wamid.overview';

  const server = useConsole();
  let shop: TestCaller;
  let bank: TestCaller;
  let trial: TestCaller;
  let viewer: TestPerson;
  beforeAll(async () => {
    const { database } = server.db;
    shop = await buildCaller(database, 'live', { credits: 100 });
    bank = await buildCaller(database, 'live', { id: shop.accountId });
    trial = await buildCaller(database, 'test', { id: shop.accountId });
    const foreign = await buildCaller(database, 'live', { credits: 100 });
    viewer = await person(server, { accounts: { [shop.accountId]: 'viewer' } });
    for (const caller of [shop, bank, trial, foreign]) await buildSend(database, caller, { locale: 'pt-BR' });
    const accepted = await buildSend(database, shop, { locale: 'en' });
    await attempt(database, accepted, await buildSender(database), { kind: 'accepted', messageId: MESSAGE });
  });

  function query(more: Record<string, string> = {}): string {
    const now = Date.now();
    return new URLSearchParams({
      from: new Date(now - 2 * DAY_MS).toISOString(),
      to: new Date(now + 60_000).toISOString(),
      bucket: 'day',
      timeZone: 'America/Sao_Paulo',
      ...more,
    }).toString();
  }

  async function overview(more: Record<string, string> = {}): Promise<OverviewView> {
    const { status, body } = await viewer.get<OverviewView>(
      `/accounts/${shop.accountId}/overview?${query(more)}`,
    );
    expect(status).toBe(200);
    return body;
  }

  describe('the overview', () => {
    it('counts the account’s own sends, by application, country, language and day of the reader', async () => {
      const { totals, previous, series, ...parts } = await overview({ mode: 'live' });
      expect([totals.sends, previous.sends]).toEqual([3, 0]);
      expect(series.every(({ start }) => /^\d{4}-.*T03:00:00\.000Z$/.test(start))).toBe(true);
      expect(parts).toMatchObject({
        sampled: null,
        applications: [
          { applicationId: shop.applicationId, sends: 2 },
          { applicationId: bank.applicationId, sends: 1 },
        ],
        countries: [{ country: 'BR', sends: 3 }],
        locales: [
          { locale: 'pt-BR', sends: 2 },
          { locale: 'en', sends: 1 },
        ],
      });
      expect((await overview({ bucket: 'hour', locale: 'pt-BR' })).totals.sends).toBe(2);
    });

    it('counts live sends by default, and test sends if no application is live', async () => {
      const begun = await buildCaller(server.db.database, 'test');
      const newcomer = await person(server, { accounts: { [begun.accountId]: 'viewer' } });
      await buildSend(server.db.database, begun);
      const modeAndSends = ({ mode, totals }: OverviewView) => [mode, totals.sends];
      const path = `/accounts/${begun.accountId}/overview?${query()}`;
      expect(modeAndSends((await newcomer.get<OverviewView>(path)).body)).toEqual(['test', 1]);
      expect(modeAndSends(await overview())).toEqual(['live', 3]);
      expect(modeAndSends(await overview({ application: trial.applicationId }))).toEqual(['test', 1]);
    });

    it('includes the same part of the previous period', async () => {
      const caller = await buildCaller(server.db.database, 'test', { id: shop.accountId });
      const now = Date.now();
      const MINUTE_MS = 60_000;
      const begun = (now - 90 * MINUTE_MS).toString(16).padStart(12, '0');
      await server.db.sql('update sends set id = ($1 || right(id::text, 23))::uuid where id = $2', [
        `${begun.slice(0, 8)}-${begun.slice(8)}`,
        await buildSend(server.db.database, caller),
      ]);
      const of = async (begin: number, minutes: number) => {
        const { totals, previous } = await overview({
          application: caller.applicationId,
          from: new Date(begin).toISOString(),
          to: new Date(begin + minutes * MINUTE_MS).toISOString(),
        });
        return [totals.sends, previous.sends];
      };
      expect(await of(now - 60 * MINUTE_MS, 60)).toEqual([0, 1]);
      expect(await of(now - 120 * MINUTE_MS, 60)).toEqual([1, 0]);
      // In the previous period, the send is later than the same part.
      expect(await of(now - 60 * MINUTE_MS, 120)).toEqual([0, 0]);
    });

    it('has the share of accepted messages that never arrived, by country, after their codes have expired', async () => {
      const { database } = server.db;
      const caller = await buildCaller(database, 'live', { credits: 9 });
      const reader = await person(server, { accounts: { [caller.accountId]: 'viewer' } });
      const sender = await buildSender(database);
      const send = async (country: string, end: 'expired' | 'active' | 'delivered') => {
        const id = await buildSend(database, caller);
        const messageId = `wamid.${id}`;
        const name = await attempt(database, id, sender, { kind: 'accepted', messageId });
        if (end === 'delivered')
          await report(database, name, { messageId, status: 'delivered', failure: null });
        await server.db.sql('update sends set country = $1 where id = $2', [country, id]);
        if (end === 'expired')
          await server.db.sql(
            `update sends set created_at = created_at - interval '1 minute', expires_at = now() - interval '1 second' where id = $1`,
            [id],
          );
      };
      for (const [country, ends] of [
        ['BR', ['expired', 'delivered', 'delivered', 'delivered', 'active']],
        ['AR', ['delivered']],
        ['CL', ['active']],
      ] as const)
        for (const end of ends) await send(country, end);
      const path = `/accounts/${caller.accountId}/overview`;
      const { totals, countries } = (await reader.get<OverviewView>(`${path}?${query()}`)).body;
      expect(totals).toMatchObject({ undelivered: 1, undeliveredShare: 0.2 });
      expect(countries).toMatchObject([
        { country: 'BR', undelivered: 1, undeliveredShare: 0.25 },
        { country: 'AR', undelivered: 0, undeliveredShare: 0 },
        { country: 'CL', undelivered: 0, undeliveredShare: null },
      ]);
    });

    it('counts denied codes by application and country', async () => {
      await applyTestReports(server.db.database, {
        denials: [{ messageId: MESSAGE, occurredAt: new Date() }],
      });
      const denials = [
        { applicationId: shop.applicationId, name: expect.any(String), country: 'BR', denials: 1 },
      ];
      expect(await overview({ mode: 'live' })).toMatchObject({ denials });
      expect(await overview({ mode: 'test' })).toMatchObject({ denials: [] });
      expect(await overview({ application: bank.applicationId })).toMatchObject({ denials: [] });
      expect(await overview({ locale: 'en' })).toMatchObject({ denials });
      expect(await overview({ locale: 'pt-BR' })).toMatchObject({ denials: [] });
    });

    it.each<[Record<string, string>, string]>([
      [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
      [{ timeZone: '' }, 'timeZone'],
      [{ timeZone: 'A'.repeat(61) }, 'timeZone'],
      [{ from: 'then' }, 'from'],
      [{ to: '2020-01-01T00:00:00Z' }, 'to'],
      [{ from: '2020-01-01T00:00:00Z' }, 'to'],
      [{ bucket: 'hour', from: new Date(Date.now() - 20 * DAY_MS).toISOString() }, 'to'],
    ])('refuses %j', async (more, field) => {
      const { status, body } = await viewer.get(`/accounts/${shop.accountId}/overview?${query(more)}`);
      expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
    });
  });

  describe('a time zone', () => {
    // PostgreSQL of Debian 13 and Ubuntu 24.04 lacks the first of each pair, and Node 20 uses it as the name of the second.
    const PAIRS = [
      ['America/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
      ['Asia/Calcutta', 'Asia/Kolkata'],
      ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
      ['Europe/Kiev', 'Europe/Kyiv'],
    ] as const;
    const answerFor = (timeZone: string) =>
      viewer.get<OverviewView>(`/accounts/${shop.accountId}/overview?${query({ timeZone })}`);

    it.each(PAIRS)('has the same overview with its legacy name %s and with %s', async (legacy, modern) => {
      const [one, other] = [await answerFor(legacy), await answerFor(modern)];
      expect([one.status, other.status]).toEqual([200, 200]);
      expect(one.body.series.map(({ start }) => start)).toEqual(other.body.series.map(({ start }) => start));
    });

    it('has an overview if Node knows it, and is refused with 422 if not', async () => {
      const legacy = ['US/Pacific-New', 'US/Pacific', 'GMT+0', 'PST8PDT', 'Etc/GMT+12', 'zulu'];
      const sample = Intl.supportedValuesOf('timeZone').filter((_, n) => n % 10 === 0);
      for (const timeZone of [...sample, ...legacy]) {
        const { status } = await answerFor(timeZone);
        expect([timeZone, status]).toEqual([timeZone, 200]);
      }
      const unknown = ['Mars/Olympus', 'Pacific-New', 'A+1', 'UTC+3', 'posixrules', "UTC';--"];
      for (const timeZone of [...unknown, `a${'_'.repeat(58)}!`]) {
        const { status, body } = await viewer.get(
          `/accounts/${shop.accountId}/overview?${query({ timeZone })}`,
        );
        expect([timeZone, status, Object.keys(body.errors)]).toEqual([timeZone, 422, ['timeZone']]);
      }
    });
  });
});

describe('health', () => {
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
      const named = ({ findings }: HealthView) =>
        findings.filter(({ name }) => name === 'deliveries_missing');
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
      const report = (status: string) => ({ template: { ...template, values: { status } } });
      await applyProviderReport(database, '88', report('PAUSED'), at);
      const quality = { value: 'RED', at: at.toISOString(), since: at.toISOString() };
      await server.db.sql('insert into provider_facts (subject, facts) values ($1, $2)', [
        sender.id,
        { quality },
      ]);
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
            ({ name, since }) =>
              name === 'sender_misconfigured' && Date.parse(at) - Date.parse(since) > 3_000,
          ) && waiting?.forSender.count === 1,
      );
      const incidents = view.findings.filter(({ holdsUp }) => holdsUp === 'forSender');
      expect(incidents).toMatchObject([
        {
          name: 'sender_misconfigured',
          owner: 'us',
          since: expect.any(String),
          senders: 1,
          blocks: [
            { senderId: sender.id, number: '+1 ••••• 3877', errorCode: 190, until: expect.any(String) },
          ],
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
});

describe('settings', () => {
  const server = useConsole();
  let operator: TestPerson;
  let onCall: TestPerson;
  beforeAll(async () => {
    operator = await person(server, { staff: 'operator' });
    onCall = await person(server, { staff: 'on_call' });
  });

  const NOTHING_READ: SenderReading = {
    businessAccountId: null,
    portfolioId: null,
    number: {},
    businessAccount: {},
    templates: null,
    failures: { number: 'not read' },
  };
  const TEMPLATE = { status: 'APPROVED', category: 'AUTHENTICATION', hasCopyCodeButton: true } as const;

  describe('the settings', () => {
    it('change only the given fields, and log who changed them and why', async () => {
      await operator.put('/staff/settings', { freeSends: 25, guessBudget: null, reason: 'fewer questions' });

      const { body } = await onCall.get('/staff/settings');
      expect(body).toMatchObject({
        settings: { freeSends: 25, guessBudget: null, codeValiditySeconds: 600, accountRatePerMinute: 600 },
        bounds: { codeValiditySeconds: { min: 60, max: 3_600 } },
      });
      const history = await onCall.get('/staff/audit?area=settings');
      expect(history.body.entries).toMatchObject([
        {
          actor: { name: operator.email },
          changes: [
            { field: 'freeSends', before: 10, after: 25 },
            { field: 'guessBudget', before: 100, after: null },
          ],
          facts: [{ field: 'reason', value: 'fewer questions' }],
        },
      ]);
    });

    it.each([
      [{ codeValiditySeconds: 59 }, { codeValiditySeconds: 'minimum' }],
      [{ codeValiditySeconds: 3_601 }, { codeValiditySeconds: 'maximum' }],
      [{ codeValiditySeconds: null }, { codeValiditySeconds: 'type' }],
      [{ guessBudget: 4 }, { guessBudget: 'minimum' }],
      [{ freeSends: 9, reason: ' ' }, { reason: 'pattern' }],
      [{ freeSends: 9, reason: undefined }, { reason: 'required' }],
    ])('refuse %j', async (body, errors) => {
      const before = (await onCall.get('/staff/settings')).body;

      expect(await operator.put('/staff/settings', { reason: 'a test', ...body })).toMatchObject({
        status: 422,
        body: { errors },
      });

      expect((await onCall.get('/staff/settings')).body).toEqual(before);
    });

    it('list the templates that contradict a new validity, as the sender’s checks do after the change', async () => {
      const { database } = server.db;
      const sender = await buildSender(database);
      const templates = [
        { language: 'pt_BR', values: { ...TEMPLATE, ttlSeconds: 300, codeExpirationMinutes: 5 } },
        { language: 'en', values: { ...TEMPLATE, ttlSeconds: 900, codeExpirationMinutes: null } },
      ];
      await applySenderReading(
        database,
        sender,
        { ...NOTHING_READ, businessAccountId: '102290129340398', templates },
        new Date(),
      );

      const conflicts = async (seconds: number): Promise<ConflictingTemplate[]> => {
        const path = `/staff/settings/conflicting-templates?codeValiditySeconds=${seconds}`;
        return (await operator.get<{ templates: ConflictingTemplate[] }>(path)).body.templates;
      };
      expect(await conflicts(600)).toMatchObject([
        { name: 'verification_code', language: 'en', footerMinutes: null, ttlSeconds: 900 },
        { name: 'verification_code', language: 'pt_BR', footerMinutes: 5 },
      ]);
      expect(await conflicts(240)).toMatchObject([
        { language: 'en', footerMinutes: null, ttlSeconds: 900 },
        { language: 'pt_BR', footerMinutes: 5, ttlSeconds: 300 },
      ]);

      await operator.put('/staff/settings', { codeValiditySeconds: 240, reason: 'a test' });
      const { senders } = (await operator.get<SendersView>('/staff/senders')).body;
      const { checks } = senders.find(({ id }) => id === sender.id)!.provider;
      expect(checks.filter(({ check }) => /^template_(ttl|footer)$/.test(check))).toMatchObject([
        { ok: false, facts: { templates: 'en (15 min), pt_BR (5 min)', validity: '4 min' } },
        { ok: false, facts: { templates: 'en (–), pt_BR (5 min)', validity: '4 min' } },
      ]);
      await operator.put('/staff/settings', { codeValiditySeconds: 600, reason: 'a test' });
    });
  });
});

describe('search', () => {
  const server = useConsole();
  let ours: TestCaller;
  let member: TestPerson;
  let onCall: TestPerson;
  const [request, refused] = [randomUUID(), randomUUID()];
  const ids: Record<string, string> = {};
  let key: string;

  beforeAll(async () => {
    const { database } = server.db;
    ours = await buildCaller(database, 'live', { credits: 5 });
    const theirs = await buildCaller(database, 'live', { credits: 5 });
    member = await person(server, { accounts: { [ours.accountId]: 'viewer' }, email: 'bia@example.com' });
    onCall = await person(server, { staff: 'on_call' });
    const sent = { recipient: '+5511987654321', idempotencyKey: 'order-7' };
    ids['send'] = await buildSend(database, ours, { ...sent, requestId: request });
    ids['theirs'] = await buildSend(database, theirs, sent);
    const idempotencyKeyHash = createHash('sha256').update('order-8').digest();
    await refuseRequests(database, ours, 'rate_limited', [
      { requestId: refused, status: 429, detail: 'A limit.', idempotencyKeyHash },
    ]);
    const made = await createApiKey(database, TEST_ACTOR, ours.applicationId, { name: 'Server' });
    key = made!.key;
    ids['key'] = made!.id;
    ids['named'] = await buildAccount(database, { name: 'Padaria Estrela' });
    const sender = await buildSender(database);
    ids['sender'] = sender.id;
    ids['number'] = sender.number;
  });

  const searchBy = async (who: TestPerson, text: string): Promise<string[]> => {
    const path = who === onCall ? '/staff/search' : `/accounts/${ours.accountId}/search`;
    const { status, body } = await who.post<SearchView>(path, { text });
    expect(status).toBe(200);
    return body.found.map(({ kind, id }) => `${kind} ${id}`);
  };

  describe('the search', () => {
    it.each<[string, () => string, () => string]>([
      ['a send by its id', () => ids['send']!.toUpperCase(), () => `send ${ids['send']}`],
      ['a send by its request', () => ` ${request} `, () => `send ${ids['send']}`],
      ['a send by its idempotency key', () => 'order-7', () => `send ${ids['send']}`],
      ['sends by a whole number', () => '+55 (11) 98765-4321', () => `send ${ids['send']}`],
      ['sends by a link to a chat', () => 'https://wa.me/5511987654321', () => `send ${ids['send']}`],
      ['sends by a national number', () => '011 98765-4321', () => `send ${ids['send']}`],
      ['sends by the last four digits', () => '4321', () => `send ${ids['send']}`],
      ['a refused request by its id', () => refused, () => `request ${refused}`],
      ['a refused request by its idempotency key', () => 'order-8', () => `request ${refused}`],
      ['a key by its last four characters', () => key.slice(-4), () => `key ${ids['key']}`],
      ['a key that is whole', () => key, () => `key ${ids['key']}`],
    ])('finds %s in the account only', async (_, text, found) => {
      expect(await searchBy(member, text())).toEqual([found()]);
    });

    it.each<[string, () => string, () => string[]]>([
      ['an account by its name', () => 'padaria', () => [`account ${ids['named']}`]],
      ['an account by a member’s email', () => 'Bia@example.com', () => [`account ${ours.accountId}`]],
      ['a sender by its number', () => ids['number']!, () => [`sender ${ids['sender']}`]],
      ['a send by its request', () => request, () => [`send ${ids['send']}`]],
      ['a key by its last four characters', () => key.slice(-4), () => [`key ${ids['key']}`]],
      [
        'sends of all accounts by an idempotency key',
        () => 'order-7',
        () => [`send ${ids['theirs']}`, `send ${ids['send']}`],
      ],
      ['no sends by a number', () => '+5511987654321', () => []],
    ])('finds %s for staff', async (_, text, found) => {
      expect(await searchBy(onCall, text())).toEqual(found());
    });

    it('does not show staff the recipient of a send', async () => {
      const { body } = await onCall.post<SearchView>('/staff/search', { text: ids['send'] });
      expect(body.found).toMatchObject([{ kind: 'send', recipientMasked: null }]);
      expect(JSON.stringify(body)).not.toContain('4321');
    });
  });
});

describe('secrecy', () => {
  const server = useConsole();

  it('a key appears only in the response to its creation, and a searched text only in its request', async () => {
    const { accountId, applicationId } = await buildCaller(server.db.database, 'live');
    const url = `http://localhost:${await closedPort()}`;
    // The built console, which logs everything, on the same database and with the same sessions.
    const loud = startProcess('apps/console/dist/main.js', {
      DATABASE_URL: server.db.url,
      REDIS_URL: testRedisUrl(),
      QUEUE_PREFIX: server.prefix,
      PORT: new URL(url).port,
      METRICS_PORT: '0',
      BASE_URL: 'https://api.example.test',
      CONSOLE_URL: url,
      SESSION_SECRET: server.sessionSecret,
      SECRET_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'trace',
    });
    await untilReady(loud);
    const { db, prefix, sessionSecret } = server;
    const there = (who: TestPerson): TestPerson => inSession({ url, db, prefix, sessionSecret }, who, who);
    const developer = there(await person(server, { accounts: { [accountId]: 'developer' } }));
    const onCall = there(await person(server, { staff: 'on_call' }));

    const account = `/accounts/${accountId}`;
    const keys = `${account}/applications/${applicationId}/keys`;
    const made = await developer.post<NewKeyView>(keys, { label: 'Server' });
    const { id, key } = made.body;
    expect(isApiKey(key)).toBe(true);
    expect(made.headers.get('cache-control')).toBe('no-store');
    const text = `order of +55 11 98765-4321 ${randomUUID()}`;
    const refused = `${account}/refused-requests/search`;
    const later = [
      await developer.get(keys),
      await developer.get(`${account}/applications`),
      await developer.post(`${keys}/${id}/revoke`),
      await developer.get(keys),
      await developer.post(`${account}/search`, { text }),
      await onCall.post('/staff/search', { text }),
      await developer.post(refused, { text }),
      await developer.post(refused, { text, before: 'no id' }),
      await developer.post(refused, { text: text.repeat(9) }),
      await onCall.post(`/staff${refused}`, { text }),
      await onCall.post(refused, { text }),
    ];
    await loud.stop();

    expect(later.map(({ status }) => status)).toEqual([
      200, 200, 204, 200, 200, 200, 200, 422, 422, 200, 404,
    ]);
    const answers = JSON.stringify(later.map(({ body }) => body));
    const kept = [loud.output(), ...(await tableContents(server.db)).values(), answers].join('\n');
    for (const seen of [id, '/applications/:application/keys', '/staff/search']) expect(kept).toContain(seen);
    // A hint shows the ends of a key; the part between them would be enough to guess the rest.
    for (const secret of [key.slice('ak_live_'.length + 4, -4), text.slice(-36)])
      expect(kept).not.toContain(secret);
  });
});
