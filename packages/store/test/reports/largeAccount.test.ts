import {
  findSendDetails,
  listLedger,
  listSends,
  overview,
  type Database,
  type OverviewQuestion,
  type SendFilter,
} from '@onecode/store';
import { buildCaller, buildSender, useTestDatabase, type TestCaller } from '@onecode/testing';
import { nodesOf, plansOf, statementsOf } from '../client/statementPlans.js';

/** More than is looked through for one page, and than an overview looks at. */
const SENDS = 100_050;

const store = useTestDatabase();
let caller: TestCaller;
let other: TestCaller;
let sendId: string;
beforeAll(async () => {
  await buildSender(store.database);
  caller = await buildCaller(store.database, 'live');
  other = await buildCaller(store.database, 'live', { id: caller.accountId });
  await fill();
  [{ id: sendId }] = (await store.sql('select id from sends where account_number = 777')) as [{ id: string }];
}, 120_000);

/** A month of two applications. All is verified and read but the oldest 20 sends and each tenth. */
async function fill(): Promise<void> {
  await store.sql(
    `insert into sends (id, request_id, account_id, application_id, mode, account_number, application_number, recipient, canonical_recipient,
       locale, charged_from, code_hash, status, verification, channel, from_number, sender_id, sent_at, delivered_at, read_at, verified_at, created_at, expires_at)
     select gen_random_uuid(), gen_random_uuid(), $1, case when n % 2 = 0 then $2 else $3 end::uuid, 'live', n, (n + 1) / 2, phone, phone,
       case when n % 3 = 0 then 'en' else 'pt-BR' end, 'credit', convert_to(repeat('h', 33), 'utf8'),
       case when n <= 20 then 'sent' else 'read' end, case when n % 10 = 0 then 'pending' else 'verified' end,
       'whatsapp', s.number, s.id, at, case when n > 20 then at + interval '4 seconds' end,
       case when n > 20 then at + interval '9 seconds' end, case when n % 10 <> 0 then at end, at, at + interval '10 minutes'
     from generate_series(1, ${SENDS}) n, senders s, lateral (select now() - interval '25 seconds' * (${SENDS} - n) - interval '1 hour' as at,
         '+5511' || 900000000 + n % 2 as phone)`,
    [caller.accountId, caller.applicationId, other.applicationId],
  );
  for (const statement of [
    `insert into ledger_entries (account_id, kind, bucket, units) select id, 'granted', 'credit', 1000000 from accounts`,
    `insert into ledger_entries (account_id, send_id, kind, bucket, units)
       select account_id, id, 'reserved', charged_from, 1 from sends order by account_number`,
    `insert into attempts (id, send_id, sender_id, outcome, message_id, finished_at)
       select gen_random_uuid(), id, sender_id, 'accepted', 'wamid.' || account_number, now() from sends`,
    `insert into receipts (message_id, attempt_id, status, occurred_at, due_at, result)
       select message_id, case when random() < 0.9 then id end, 'delivered', now(), null, 'applied' from attempts`,
    `update accounts set sends_created = ${SENDS}, credits = 1000000 - ${SENDS}, free_quota = 0`,
    `delete from ledger_entries where bucket = 'free_quota'`,
    `update applications set sends_created = ${SENDS} / 2`,
    'analyze',
  ])
    await store.sql(statement);
}

/** Its tables that are never to be read from end to end. All rows are of this account, so no planner has a better reason to. */
const LARGE = new Set(['sends', 'attempts', 'receipts', 'ledger_entries']);

const DAY_MS = 86_400_000;
const ask = (question: { applicationId?: string; locale?: 'en' } = {}) =>
  overview(store.database, caller.accountId, {
    from: new Date(Date.now() - 40 * DAY_MS),
    to: new Date(),
    bucket: 'day',
    timeZone: 'UTC',
    ...question,
  });

describe('an account of a hundred thousand sends', () => {
  it('is searched so far for one page, which says where to go on', async () => {
    const list = (filter: SendFilter, before?: string) =>
      listSends(store.database, caller.accountId, filter, {
        limit: 15,
        ...(before !== undefined && { before }),
      });
    const first = await list({ status: 'sent' });
    expect(first.sends).toEqual([]);
    const second = await list({ status: 'sent' }, first.next!);
    expect(second.sends).toHaveLength(15);
    const third = await list({ status: 'sent' }, second.next!);
    expect([third.sends.length, third.next]).toEqual([5, null]);
  });

  it('goes on in the same way in the entries of one kind, with their balances', async () => {
    const list = (before?: string) =>
      listLedger(store.database, caller.accountId, {
        limit: 10,
        kind: 'granted',
        ...(before !== undefined && { before }),
      });
    const first = await list();
    expect(first.entries).toEqual([]);
    const second = await list(first.next!);
    expect(second.entries).toMatchObject([
      { units: 1_000_000, balance: { freeQuota: 0, credits: 1_000_000 } },
    ]);
    expect(second.next).toBeNull();
  });

  it('has an overview of a sample, with exact numbers of sends and shares that are nearly right', async () => {
    const { sampled, totals, applications, series, locales } = await ask();
    expect(sampled).toBe(6);
    expect(totals.sends).toBe(SENDS);
    expect(applications.map(({ sends }) => sends)).toEqual([SENDS / 2, SENDS / 2]);
    expect(totals.verifiedShare).toBeCloseTo(0.9, 1);
    expect(totals.deliveredShare).toBeCloseTo(1, 3);
    expect([totals.deliverySecondsMedian, totals.deliverySecondsP95]).toEqual([4, 4]);
    expect(series.reduce((sum, { sends }) => sum + sends, 0)).toBe(SENDS);
    expect(Math.abs(series.at(-10)!.sends - DAY_MS / 25_000)).toBeLessThanOrEqual(2 * 6);
    expect(locales[0]!.sends / SENDS).toBeCloseTo(2 / 3, 1);
    expect((await ask({ locale: 'en' })).totals.sends / SENDS).toBeCloseTo(1 / 3, 1);
  });

  it('is sampled anew for what is asked of it', async () => {
    const { sampled, totals } = await ask({ applicationId: other.applicationId });
    expect([sampled, totals.sends]).toEqual([3, SENDS / 2]);
  });
});

const listed = (filter: SendFilter) => (database: Database) =>
  listSends(database, caller.accountId, filter, { limit: 50 });
/** Places near the ends of the lists: in the ledger, with any balance. */
const DEEP = Buffer.from('500.0.1000').toString('base64url');
const EARLY = Buffer.from('5000').toString('base64url');
const early = (filter: SendFilter) => (database: Database) =>
  listSends(database, caller.accountId, filter, { limit: 50, before: EARLY });
const month = () => ({
  createdFrom: new Date(Date.now() - 20 * DAY_MS),
  createdTo: new Date(Date.now() - 10 * DAY_MS),
});
const asked =
  (bucket: 'hour' | 'day', from: number, question: Partial<OverviewQuestion> = {}) =>
  (database: Database) =>
    overview(database, caller.accountId, {
      from: new Date(Date.now() - from * DAY_MS),
      to: new Date(),
      bucket,
      timeZone: 'UTC',
      ...question,
    });

/** Each query of the console with an index that it goes by, and how many sends it may read. */
const QUERIES: [
  name: string,
  index: string,
  rowsMax: number,
  use: (database: Database) => Promise<unknown>,
][] = [
  ['all sends', 'sends_application_number', 1_000, (database) => listed({})(database)],
  ['all early sends', 'sends_application_number', 1_000, early({})],
  ['early sends that wait', 'sends_application_number', 1_000, early({ status: 'sending' })],
  ['a search through early sends', 'sends_application_number', 6_000, early({ status: 'delivered' })],
  ['sends of a time', 'sends_application_number', 1_000, (database) => listed(month())(database)],
  [
    'sends of an application and a mode',
    'sends_application_number',
    1_000,
    (database) => listed({ applicationId: other.applicationId, mode: 'live' })(database),
  ],
  ['failed sends', 'sends_failed', 200, listed({ status: 'failed' })],
  [
    'failed sends of a time',
    'sends_failed',
    200,
    (database) => listed({ status: 'failed', ...month() })(database),
  ],
  ['locked sends', 'sends_locked_at', 200, listed({ verification: 'locked' })],
  ['sends that wait', 'sends_application_number', 1_000, listed({ status: 'sending' })],
  ['codes that wait', 'sends_application_number', 1_000, listed({ verification: 'pending' })],
  ['a search through sends', 'sends_application_number', 101_000, listed({ status: 'sent' })],
  [
    'sends to a common recipient',
    'sends_to_recipient',
    1_000,
    listed({ canonicalRecipient: '+5511900000001' }),
  ],
  [
    'sends to an unknown recipient',
    'sends_to_recipient',
    200,
    listed({ canonicalRecipient: '+5511900000077' }),
  ],
  [
    'the details of a send',
    'receipts_by_attempt',
    100,
    (database) => findSendDetails(database, caller.accountId, sendId),
  ],
  ['an overview of a day', 'sends_application_number', 5_000, asked('hour', 1)],
  ['an overview of a month', 'sends_application_number', 30_000, asked('day', 31)],
  [
    'the ledger',
    'ledger_entries_account_id_idx',
    200,
    (database) => listLedger(database, caller.accountId, { limit: 50 }),
  ],
  [
    'the ledger of one kind',
    'ledger_entries_account_id_idx',
    100_100,
    (database) => listLedger(database, caller.accountId, { limit: 50, kind: 'returned' }),
  ],
];

describe.each(['force_custom_plan', 'force_generic_plan'])('with a hundred thousand sends and %s', (mode) => {
  it.each(QUERIES)('%s go by index', async (_, index, rowsMax, use) => {
    const nodes = nodesOf(await plansOf(store.url, await statementsOf(store.database, use), mode));
    const large = nodes.filter((node) => LARGE.has(node['Relation Name'] ?? ''));
    expect(large.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    expect(nodes.map((node) => node['Index Name'])).toContain(index);
    const read = large.map(
      (node) =>
        ((node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
    );
    expect(read.reduce((sum, rows) => sum + rows, 0)).toBeLessThanOrEqual(rowsMax);
  });

  it('a deep page reads as little as the first one', async () => {
    const blocksOf = async (use: (database: Database) => Promise<unknown>): Promise<number> => {
      const plans = await plansOf(store.url, await statementsOf(store.database, use), mode);
      const blocks = plans.map((plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
      // A statement's blocks include those of the functions that it calls.
      return Math.max(...blocks);
    };
    expect(await blocksOf(early({}))).toBeLessThan(1.3 * (await blocksOf(listed({}))));
    const deep = await blocksOf((database) =>
      listLedger(database, caller.accountId, { limit: 50, before: DEEP }),
    );
    const first = await blocksOf((database) => listLedger(database, caller.accountId, { limit: 50 }));
    expect(deep).toBeLessThan(1.3 * first);
  });
});
