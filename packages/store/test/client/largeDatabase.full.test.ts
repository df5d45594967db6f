import { bodyHashes, hashApiKey, type Receipt } from '@onecode/domain';
import { findCaller, changeApplication, readBreakerEvidence } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { placeHold, releaseHold } from '@onecode/store/holds';
import {
  listAuditEntries,
  readAttemptMinutes,
  readProviderAnswers,
  readWaitingSends,
} from '@onecode/store/operations';
import {
  findSendDetails,
  aggregateDays,
  countDeliveryHours,
  listLedger,
  listRefusedRequests,
  listSends,
  overview,
  readDeliveries,
  countHeldMessages,
  readSenderActivity,
  search,
  type OverviewQuestion,
  type SendFilter,
  deleteOldRefusedRequests,
  readHeldSends,
} from '@onecode/store/reports';
import { isSuperseded } from '@onecode/store/senders';
import { changeSend, createSend, findReportedSends, findSend, openDeliveries } from '@onecode/store/sends';
import {
  applyTestReports,
  buildCaller,
  buildSend,
  buildSender,
  guessCode,
  newSend,
  TEST_ACTOR,
  TEST_NUMBER_PEPPER,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { countRecentRecipients } from '../../src/senders/providerFacts.js';
import { nodesOf, plansOf, statementsOf, type Node } from './statementPlans.js';

/** The sends of a busy account in a day. */
const BUSY_SENDS = 20_000;
/** The sends of a large account in a month: more than are searched for one page, or read for an overview. */
const SENDS = 100_050;
const DAY_MS = 86_400_000;
/** Tables that grow with use. The others have a few rows, for which a scan is best. */
const LARGE = new Set([
  'sends',
  'attempts',
  'provider_reports',
  'ledger_entries',
  'api_keys',
  'guess_budgets',
  'audit_entries',
  'refused_requests',
  'daily_statistics',
]);

const CALL = { number: 1, senderId: null, outcome: 'accepted', errorCode: null, messageId: null } as const;
const TERMS = { policy: { attemptsMax: 5, backoffMs: 1_000 }, leaseMs: 15_000 };

describe('a large database', () => {
  const store = useTestDatabase();
  let busy: TestCaller;
  let senderId: string;
  let sendId: string;
  let dueId: string;
  let large: TestCaller;
  let other: TestCaller;
  let largeSendId: string;

  beforeAll(async () => {
    // Autovacuum would run between tests and change the plans: of a vacuumed table, PostgreSQL may read another index without the table.
    for (const table of LARGE) await store.sql(`alter table ${table} set (autovacuum_enabled = off)`);
    busy = await buildCaller(store.database, 'live', { freeQuota: 1_000_000, ratePerMinute: 600 });
    await changeApplication(store.database, TEST_ACTOR, busy.applicationId, {
      perMinute: 60,
      perRecipientHour: 5,
    });
    ({ id: senderId } = await buildSender(store.database));
    await fillBusy();
    sendId = await idOf('application_number = 77');
    large = await buildCaller(store.database, 'live', { freeQuota: 0 });
    other = await buildCaller(store.database, 'live', { id: large.accountId });
    await fillLarge();
    largeSendId = await idOf(`account_id = '${large.accountId}' and application_number = 389`);
    early = await idOf(`account_id = '${large.accountId}' order by id offset 4999 limit 1`);
    await fillOthers();
    await store.sql('analyze');
    dueId = await buildSend(store.database, busy, { recipient: '+5521987654321' });
  }, 240_000);

  const idOf = async (which: string): Promise<string> =>
    (await store.sql<{ id: string }>(`select id from sends where ${which}`))[0]!.id;

  /** Most sends are finished, some wait for a retry or a sender, a few are due. */
  async function fillBusy(): Promise<void> {
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, application_number, idempotency_key,
         body_hash, recipient, recipient_key, country, locale, charged_from, code_hash, encrypted_code, status, channel, from_number, sender_id,
         phase, due_at, attempt_number, sent_at, created_at, expires_at)
       select (lpad(to_hex((extract(epoch from made) * 1000)::bigint), 12, '0') || '70007000' || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(), $1, $2, 'live', n, convert_to('key ' || n, 'utf8'), $3,
         phone, '1:' || lpad(ltrim(phone, '+'), 22, '0'), 'BR', 'pt-BR', 'free_quota', convert_to(repeat('h', 33), 'utf8'),
         case when waits then 'encrypted'::bytea end, case when waits then 'sending' else 'sent' end, 'whatsapp',
         senders.number, senders.id, case when n % 40 = 1 then 'waiting' when waits then 'backing_off' else 'done' end,
         case when waits then due end, 1,
         case when not waits then made end, made, made + interval '10 minutes'
       from generate_series(1, ${BUSY_SENDS}) n, senders,
         lateral (select n % 20 = 1 as waits, now() - make_interval(secs => 4 * (${BUSY_SENDS} - n) + 60) as made,
           case when n % 2000 = 1 then now() - interval '1 minute' else now() + interval '5 minutes' end as due,
           '+55119' || lpad((n % 3000)::text, 8, '0') as phone) as t`,
      [
        busy.accountId,
        busy.applicationId,
        Buffer.from(bodyHashes(TEST_NUMBER_PEPPER, Buffer.from('{}'))[0]!, 'hex'),
      ],
    );
    for (const statement of [
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
         select id, 1, sender_id, 'accepted', 'wamid.' || application_number, created_at, created_at from sends`,
      `insert into ledger_entries (account_id, send_id, kind, bucket, units)
         select account_id, id, 'reserved', charged_from, 1 from sends`,
      `insert into provider_reports (key, reporter, kind, report, due_at)
         select 'wamid.' || n || ' delivered', null, 'receipt', json_build_object('messageId', 'wamid.' || n, 'attempt', null,
           'status', 'delivered', 'occurredAt', now(), 'failure', null), now() - interval '1 second' from generate_series(100, ${BUSY_SENDS}) n`,
      `insert into api_keys (id, application_id, hash, hint)
         select gen_random_uuid(), applications.id, sha256(convert_to('key ' || n, 'utf8')), 'hint'
         from generate_series(1, 5000) n, applications`,
      `insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
         select accounts.id, '1:' || lpad('55119' || lpad(n::text, 8, '0'), 22, '0'), 1, now()
         from generate_series(0, 2999) n, accounts`,
      `update accounts set sends_created = ${BUSY_SENDS}, breaker_unverified_percent = 90, breaker_min_sends = 50`,
      `update applications set sends_created = ${BUSY_SENDS}`,
    ])
      await store.sql(statement);
  }

  /** A month of two applications. All sends are verified and read, except the oldest 20 and every tenth. */
  async function fillLarge(): Promise<void> {
    const { accountId } = large;
    await store.sql(
      `insert into sends (id, request_id, account_id, application_id, mode, application_number, recipient, recipient_key,
         country, locale, charged_from, code_hash, status, phase, verification, channel, from_number, sender_id, sent_at, delivered_at, read_at, verified_at, created_at, expires_at)
       select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '70007000' || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(), $1,
         case when n % 2 = 0 then $2 else $3 end::uuid, 'live', (n + 1) / 2, phone, '1:' || lpad(ltrim(phone, '+'), 22, '0'),
         'BR', case when n % 3 = 0 then 'en' else 'pt-BR' end, 'credit', convert_to(repeat('h', 33), 'utf8'),
         case when n <= 20 then 'sent' else 'read' end, 'done', case when n % 10 = 0 then 'pending' else 'verified' end,
         'whatsapp', s.number, s.id, at, case when n > 20 then at + interval '4 seconds' end,
         case when n > 20 then at + interval '9 seconds' end, case when n % 10 <> 0 then at end, at, at + interval '10 minutes'
       from generate_series(1, ${SENDS}) n, senders s, lateral (select now() - interval '25 seconds' * (${SENDS} - n) - interval '1 hour' as at,
           '+5511' || 900000000 + n % 2 as phone)`,
      [accountId, large.applicationId, other.applicationId],
    );
    for (const statement of [
      `insert into ledger_entries (account_id, kind, bucket, units) values ('${accountId}', 'granted', 'credit', 1000000)`,
      `insert into ledger_entries (account_id, send_id, kind, bucket, units)
         select account_id, id, 'reserved', charged_from, 1 from sends where account_id = '${accountId}' order by id`,
      `insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
         select id, 1, sender_id, 'accepted', 'wamid.large.' || id, created_at, created_at
         from sends where account_id = '${accountId}'`,
      `update accounts set sends_created = ${SENDS}, credits = 1000000 - ${SENDS} where id = '${accountId}'`,
      `update applications set sends_created = ${SENDS} / 2 where account_id = '${accountId}'`,
    ])
      await store.sql(statement);
  }

  /** An hour of many calls, other accounts, their changes, and their refused requests. */
  async function fillOthers(): Promise<void> {
    for (const statement of [
      `insert into attempts (send_id, number, sender_id, outcome, started_at, finished_at)
         select (select id from sends where application_number = 79 limit 1), n + 1, senders.id, 'accepted', at, at
         from generate_series(1, 30000) n, senders, lateral (select now() - make_interval(secs => 60 + n / 10.0) as at) t`,
      `insert into accounts (id, name, language, free_quota)
         select gen_random_uuid(), 'Company ' || n || ' ' || md5(n::text), 'en', 0 from generate_series(1, 20000) n`,
      `insert into audit_entries (actor_kind, actor_name, action, account_id)
         select 'user', 'n', 'account.create', id from accounts`,
      `insert into refused_requests (request_id, account_id, application_id, key_id, refused_at, route, status, code, detail, fields, count)
         select gen_random_uuid(), a.id, a.id, a.id, now() - interval '13 days' * (n / 20000.0), 'POST /v1/send', 422, 'invalid_json', '', '{}', 1
         from generate_series(1, 20000) n, lateral (
           select case when n % 20 = 0 then '${busy.accountId}'::uuid else gen_random_uuid() end as id
         ) a`,
    ])
      await store.sql(statement);
  }

  const repeat = (n: number) => newSend(busy, { idempotencyKey: `key ${n}`, recipient: '+5511900000077' });
  const listed =
    (filter: SendFilter = {}, before?: string) =>
    (database: Database): Promise<unknown> =>
      listSends(database, large.accountId, filter, { limit: 50, ...(before && { before }) });
  const reported = (database: Database, which: Pick<Receipt, 'attempt' | 'messageId'>): Promise<unknown> =>
    findReportedSends(database, [
      { key: '', report: { ...which, status: 'read', occurredAt: new Date(), failure: null } },
    ]);
  const ledger =
    (more: object = {}) =>
    (database: Database): Promise<unknown> =>
      listLedger(database, large.accountId, { limit: 50, ...more });
  /** Cursors near the ends of the lists: a send, and any balance in the ledger. */
  let early: string;
  const DEEP = Buffer.from('500.0.1000').toString('base64url');
  const ask =
    (bucket: 'hour' | 'day', days: number, question: Partial<OverviewQuestion> = {}) =>
    (database: Database) =>
      overview(database, large.accountId, {
        from: new Date(Date.now() - days * DAY_MS),
        to: new Date(),
        bucket,
        timeZone: 'UTC',
        ...question,
      });

  const SEARCHED = {
    keyEnd: '0077',
    idempotencyKeys: [Buffer.from('key 77')],
    idempotencyKeyHashes: [Buffer.alloc(32)],
  };

  /** The statements with their expected indexes, and how many rows of large tables they may read. */
  const STATEMENTS: [
    name: string,
    indexes: string[],
    rowsMax: number,
    use: (database: Database) => Promise<unknown>,
  ][] = [
    ['the caller of a key', ['api_keys_hash_key'], 5, (db) => findCaller(db, hashApiKey(busy.key))],
    [
      'a creation: idempotency look-up, three windows and the guess budget',
      [
        'sends_to_recipient',
        'sends_idempotency_key',
        'guess_budgets_pkey',
        'api_keys_pkey',
        'sends_awaiting_turn',
      ],
      200,
      (db) => createSend(db, repeat(1_000_000)),
    ],
    ['an idempotent repeat', ['sends_idempotency_key'], 10, (db) => createSend(db, repeat(77))],
    ['a status', ['sends_pkey'], 5, (db) => findSend(db, { id: sendId, accountId: busy.accountId })],
    ['a guess', ['sends_pkey', 'guess_budgets_pkey'], 20, (db) => guessCode(db, dueId, true)],
    [
      'a delivery',
      ['sends_pkey'],
      20,
      (db) =>
        changeSend(db, { id: sendId }, (send) => ({
          result: null,
          change: { deliveredAt: send.createdAt },
          attempts: [{ ...CALL, startedAt: send.createdAt }],
        })),
    ],
    ['the evidence for the breaker', ['sends_of_application'], 2_500, readBreakerEvidence],
    [
      'a report by its attempt',
      ['attempts_pkey', 'sends_pkey'],
      10,
      (db) => reported(db, { attempt: { sendId, number: 1 }, messageId: 'wamid.none' }),
    ],
    [
      'a report by its message id',
      ['attempts_message_id_idx', 'sends_pkey'],
      10,
      (db) => reported(db, { attempt: null, messageId: 'wamid.78' }),
    ],
    [
      'due sends, and those that wait for a sender',
      ['sends_due_at', 'sends_awaiting_turn'],
      2_000,
      (db) => openDeliveries(db, TERMS.leaseMs).takeDue(100),
    ],
    ['the send of a job', ['sends_pkey'], 20, (db) => openDeliveries(db, TERMS.leaseMs).take(dueId)],
    [
      'due receipts',
      ['provider_reports_of_own_apps', 'provider_reports_pkey', 'attempts_message_id_idx', 'sends_pkey'],
      4_000,
      (db) => applyTestReports(db, {}),
    ],

    ['all sends', ['sends_of_application'], 1_000, listed()],
    [
      'sends of an application and a mode',
      ['sends_of_application'],
      1_000,
      (db) => listed({ applicationId: other.applicationId, mode: 'live' })(db),
    ],
    ['failed sends', ['sends_failed'], 200, listed({ status: 'failed' })],
    ['locked sends', ['sends_locked'], 200, listed({ verification: 'locked' })],
    ['sends that wait', ['sends_of_application'], 1_000, listed({ status: 'sending' })],
    ['sends of a country', ['sends_of_application'], 101_000, listed({ country: 'PT' })],
    [
      'sends to the last digits of a number',
      ['sends_of_application'],
      41_000,
      listed({ recipientEndsWith: '0001' }),
    ],
    ['a search through sends', ['sends_of_application'], 101_000, listed({ status: 'sent' })],
    [
      'sends to a common recipient',
      ['sends_to_recipient'],
      1_000,
      listed({ recipientKeys: [`1:${'5511900000001'.padStart(22, '0')}`] }),
    ],
    [
      'sends to an unknown recipient',
      ['sends_to_recipient'],
      200,
      listed({ recipientKeys: [`1:${'5511900000077'.padStart(22, '0')}`] }),
    ],
    [
      'the details of a send',
      ['attempts_pkey'],
      100,
      (db) => findSendDetails(db, large.accountId, largeSendId),
    ],
    ['an overview of a day', ['sends_of_application'], 5_000, ask('hour', 1)],
    ['an overview of a month', ['sends_of_application'], 30_000, ask('day', 31)],
    ['the ledger', ['ledger_entries_account_id_idx'], 200, ledger()],
    ['the ledger of one kind', ['ledger_entries_account_id_idx'], 100_100, ledger({ kind: 'returned' })],

    ['the audit log', ['audit_entries_pkey'], 100, (db) => listAuditEntries(db, { limit: 50 })],
    [
      'the audit log of an account',
      ['audit_entries_account_id'],
      100,
      (db) => listAuditEntries(db, { limit: 50, accountId: busy.accountId }),
    ],
    [
      // PostgreSQL may use the index by account or the one by time, because both read equally little.
      'refused requests',
      [],
      2_000,
      (db) => listRefusedRequests(db, busy.accountId, {}, { limit: 50 }),
    ],
  ];
  /** Statements that run rarely and that PostgreSQL plans for their values. */
  const NOW_AND_THEN: typeof STATEMENTS = [
    ['unfinished sends', ['sends_due_at'], 3_000, readWaitingSends],
    ['held sends', [], 1_000, readHeldSends],
    ['messages that never arrived', [], 1_000, readDeliveries],
    [
      'the deliveries of some hours of the last day',
      ['sends_pkey'],
      30_000,
      (db) => countDeliveryHours(db, new AbortController().signal),
    ],
    ['calls by minute', ['attempts_finished_at_idx'], 20_000, (db) => readAttemptMinutes(db, 30)],
    ['the provider’s answers', ['attempts_finished_at_idx'], 5_000, (db) => readProviderAnswers(db, 5)],
    ['messages that Meta held', ['attempts_held_idx'], 100, countHeldMessages],
    [
      'the recipients of a day',
      ['attempts_sender_id_outcome_finished_at_idx', 'sends_pkey'],
      4 * BUSY_SENDS,
      (db) => countRecentRecipients(db, senderId),
    ],
    [
      'a newer success of a sender',
      ['attempts_sender_id_outcome_finished_at_idx', 'sends_pkey'],
      100,
      (db) =>
        isSuperseded(
          db,
          senderId,
          { scope: 'sender', onlyFor: '' },
          { startedAt: new Date(Date.now() - 60_000), source: 'answer' },
        ),
    ],
    // The hour has hardly more calls than the statement reads, so an ordered read and a sort cost the same.
    ['the latest calls of senders', ['attempts_finished_at_idx'], 40_000, readSenderActivity],
    [
      'a search in an account by the end of a number',
      ['sends_of_application', 'sends_idempotency_key'],
      86_000,
      (db) => search(db, large.accountId, { ...SEARCHED, recipientEnd: '0077' }),
    ],
    [
      'a search in an account by an id',
      ['sends_of_application', 'sends_pkey'],
      86_000,
      (db) => search(db, large.accountId, { ...SEARCHED, id: largeSendId }),
    ],
    [
      'the audit log of an area',
      ['audit_entries_action'],
      100,
      (db) => listAuditEntries(db, { limit: 50, actionPrefix: 'settings.' }),
    ],
    [
      'old refused requests',
      ['refused_requests_refused_at'],
      2_000,
      (db) => deleteOldRefusedRequests(db, 500),
    ],
  ];

  const planned = async (use: (database: Database) => Promise<unknown>, mode: string): Promise<Node[]> =>
    nodesOf(await plansOf(store.url, await statementsOf(store.database, use), mode));

  describe.each([
    ['force_custom_plan', [...STATEMENTS, ...NOW_AND_THEN]],
    ['force_generic_plan', STATEMENTS],
  ] as const)('with %s', (mode, statements) => {
    it.each(statements)('reads only matching rows, by index: %s', async (_, indexes, rowsMax, use) => {
      const nodes = await planned(use, mode);
      expect(nodes.length).toBeGreaterThan(0);
      const reads = nodes.filter((node) => LARGE.has(node['Relation Name'] ?? ''));
      expect(reads.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
      const used = new Set(nodes.map((node) => node['Index Name']));
      expect(indexes.filter((index) => !used.has(index))).toEqual([]);
      const rows = reads.map(
        (node) =>
          ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
      );
      expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(rowsMax);
    });

    it('reads as few blocks for a deep page as for the first page', async () => {
      const blocksOf = async (use: (database: Database) => Promise<unknown>): Promise<number> => {
        const plans = await plansOf(store.url, await statementsOf(store.database, use), mode);
        // A statement's blocks include those of the functions that it calls.
        return Math.max(...plans.map((plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']));
      };
      const first = await blocksOf(listed());
      expect(await blocksOf(listed({}, early))).toBeLessThan(1.3 * first);
      expect(await blocksOf(ledger({ before: DEEP }))).toBeLessThan(1.3 * (await blocksOf(ledger())));
    });
  });

  it('reads a few waiting sends for each send that it takes, and only one if none can be taken', async () => {
    const rowsRead = async (): Promise<number> => {
      const nodes = await planned(
        (database) => openDeliveries(database, TERMS.leaseMs).takeDue(5),
        'force_generic_plan',
      );
      return nodes
        .filter((node) => node['Relation Name'] === 'sends')
        .reduce((sum, node) => sum + node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0), 0);
    };
    await store.sql(`update sends set due_at = now() + interval '1 hour' where due_at <= now()`);
    // Of the hundreds of waiting sends, it reads a few for each of the five that it takes.
    const some = await rowsRead();
    expect(some).toBeGreaterThan(5);
    expect(some).toBeLessThan(60);
    await placeHold(store.database, TEST_ACTOR, { kind: 'live', target: '', reason: 'a test' });
    expect(await rowsRead()).toBe(1);
    await releaseHold(store.database, TEST_ACTOR, { kind: 'live', target: '' });
    expect(await rowsRead()).toBe(some);
    await store.sql(
      `insert into sender_blocks (cause, scope, subject, source, reason) select 'operator', 'sender', id::text, 'operator', 'test' from senders`,
    );
    expect(await rowsRead()).toBe(1);
  });

  it('limits the search for a page of sends, and returns where to continue', async () => {
    const list = (page: object = {}) =>
      listSends(store.database, large.accountId, { status: 'sent' }, { limit: 15, ...page });
    const first = await list();
    expect(first.sends).toEqual([]);
    const second = await list({ before: first.next! });
    expect(second.sends).toHaveLength(15);
    const third = await list({ before: second.next! });
    expect([third.sends.length, third.next]).toEqual([5, null]);
  });

  it('limits the search for a page of ledger entries of one kind, and returns where to continue', async () => {
    const list = (page: object = {}) =>
      listLedger(store.database, large.accountId, { limit: 10, kind: 'granted', ...page });
    const first = await list();
    expect(first.entries).toEqual([]);
    const second = await list({ before: first.next! });
    expect(second.entries).toMatchObject([
      { change: 1_000_000, balance: { freeQuota: 0, credits: 1_000_000 } },
    ]);
    expect(second.next).toBeNull();
  });

  it('samples an overview, with exact counts and approximate shares', async () => {
    const asked = (question: Partial<OverviewQuestion> = {}) => ask('day', 40, question)(store.database);
    const { sampled, totals, applications, series, locales } = await asked();
    expect(sampled).toBe(6);
    expect(totals.sends).toBe(SENDS);
    expect(applications.map(({ sends }) => sends)).toEqual([SENDS / 2, SENDS / 2]);
    expect(totals.verifiedShare).toBeCloseTo(0.9, 1);
    expect(totals.deliveredShare).toBeCloseTo(1, 3);
    expect([totals.deliverySecondsMedian, totals.deliverySecondsP95]).toEqual([
      expect.closeTo(4, 0),
      expect.closeTo(4, 0),
    ]);
    expect(series.reduce((sum, { sends }) => sum + sends, 0)).toBe(SENDS);
    expect(Math.abs(series.at(-10)!.sends - DAY_MS / 25_000)).toBeLessThanOrEqual(2 * 6);
    expect(locales[0]!.sends / SENDS).toBeCloseTo(2 / 3, 1);
    expect((await asked({ locale: 'en' })).totals.sends / SENDS).toBeCloseTo(1 / 3, 1);
    // An overview of one application has another sampling factor.
    const own = await asked({ applicationId: other.applicationId });
    expect([own.sampled, own.totals.sends]).toEqual([3, SENDS / 2]);
  });

  it('reads only sends of days without aggregation for an overview, and returns exact counts', async () => {
    await aggregateDays(store.database, new AbortController().signal);
    await store.sql('analyze daily_statistics');
    const { sampled, totals, series } = await ask('day', 31)(store.database);
    expect([sampled, totals.sends, totals.verified]).toEqual([null, SENDS, 0.9 * SENDS]);
    expect(series.at(-15)!.sends).toBe(DAY_MS / 25_000);
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      const reads = (await planned(ask('day', 31), mode)).filter((node) =>
        LARGE.has(node['Relation Name'] ?? ''),
      );
      const of = (table: string) => reads.filter((node) => node['Relation Name'] === table);
      const rows = (table: string) =>
        of(table).reduce((sum, node) => sum + node['Actual Rows'] * (node['Actual Loops'] ?? 1), 0);
      expect(of('sends').filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
      expect(rows('sends')).toBeLessThan((10 * DAY_MS) / 25_000 + 10);
      expect(rows('daily_statistics')).toBeLessThan(31 * 4 + 1);
    }
  });
});
