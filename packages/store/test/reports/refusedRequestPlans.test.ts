import { createHash } from 'node:crypto';
import {
  deleteOldRefusedRequests,
  findRefusedRequests,
  listRefusedApplications,
  listRefusedRequests,
  sumRefusedRequests,
  type Database,
  type Page,
  type RefusedRequestFilter,
  type RefusedRequestSearch,
} from '@onecode/store';
import { buildCaller, refuseRequests, useTestDatabase, type TestCaller } from '@onecode/testing';
import { nodesOf, plansOf, statementsOf, type Node } from '../client/statementPlans.js';

/** As many as one application has after two weeks of a client that is refused with five codes in every minute. */
const NOISY = 1_000_000;
/** One in so many of them has a rare code. */
const RARE = 10_000;
/** Of the application beside it, and of another account's: among all the others, from the beginning to the end of the two weeks. */
const QUIET = 300;
const LIMIT = 50;
/** A page and one more, and the row that a cursor names. */
const PAGE_ROWS_MAX = LIMIT + 2;

const store = useTestDatabase();
const callers = {} as Record<'noisy' | 'quiet' | 'other', TestCaller>;
/** Of each caller, a request in the middle. */
const middle = {} as Record<keyof typeof callers, string>;

beforeAll(async () => {
  callers.noisy = await buildCaller(store.database, 'live');
  callers.quiet = await buildCaller(store.database, 'test', { id: callers.noisy.accountId });
  callers.other = await buildCaller(store.database, 'test');
  await withoutIndexes(['refused_requests', 'refused_request_counts'], fill);
  await store.sql('vacuum analyze refused_requests, refused_request_counts, applications, api_keys');
  for (const [name, { applicationId }] of Object.entries(callers)) {
    const [row] = await store.sql<{ id: string }>(
      `select request_id as id from refused_requests where application_id = $1 and code = 'invalid_recipient'
       order by refused_at offset 100 limit 1`,
      [applicationId],
    );
    middle[name as keyof typeof callers] = row!.id;
  }
}, 300_000);

/** Two weeks of refused requests, in the order in which they came. */
async function fill(): Promise<void> {
  await store.sql(
    `insert into refused_requests (request_id, account_id, application_id, key_id, refused_at, route, status, code, idempotency_key_hash)
     select gen_random_uuid(), r.account, r.application, r.key, now() - interval '14 days' * r.age, 'POST /v1/send', 422,
       case when r.n % ${RARE} = 0 then 'invalid_json' when r.n % 2 = 0 then 'rate_limited' else 'invalid_recipient' end,
       case when r.n % 2 = 0 then sha256('the same') when r.n % 3 = 0 then sha256(convert_to('key ' || r.n, 'utf8')) end
     from (
       select $1::uuid as account, $2::uuid as application, $3::uuid as key, n, n / ${NOISY}.0 as age from generate_series(1, ${NOISY}) n
       union all
       select u.account, u.application, u.key, n, n / ${QUIET}.0
       from unnest($4::uuid[], $5::uuid[], $6::uuid[]) u (account, application, key), generate_series(1, ${QUIET}) n
     ) r
     order by r.age desc`,
    [
      ...idsOf(callers.noisy),
      ...[0, 1, 2].map((at) => [callers.quiet, callers.other].map((one) => idsOf(one)[at])),
    ],
  );
  await store.sql(
    `insert into refused_request_counts (account_id, minute, application_id, code, count, last_refused_at)
     select account_id, date_bin('1 minute', refused_at, 'epoch') as minute, application_id, code, count(*), max(refused_at)
     from refused_requests group by 1, 2, 3, 4 order by 2`,
  );
}

const idsOf = ({ accountId, applicationId, keyId }: TestCaller): string[] => [
  accountId,
  applicationId,
  keyId,
];

/** Fills tables and then builds their indexes, which takes a third of the time. */
async function withoutIndexes(tables: readonly string[], fillThem: () => Promise<void>): Promise<void> {
  const indexes = await store.sql<{ name: string; definition: string }>(
    `select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = any($1::regclass[]) and not indisprimary`,
    [tables],
  );
  for (const { name } of indexes) await store.sql(`drop index ${name}`);
  await fillThem();
  for (const { definition } of indexes) await store.sql(definition);
}
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const list =
  (of: keyof typeof callers, filter: () => RefusedRequestFilter, page: () => Partial<Page> = () => ({})) =>
  (database: Database): Promise<unknown> =>
    listRefusedRequests(database, callers[of].accountId, filter(), { limit: LIMIT, ...page() });
const find =
  (of: keyof typeof callers, search: () => RefusedRequestSearch, page: () => Partial<Page> = () => ({})) =>
  (database: Database): Promise<unknown> =>
    findRefusedRequests(database, callers[of].accountId, search(), { limit: LIMIT, ...page() });
const only = (of: keyof typeof callers) => ({ applicationId: callers[of].applicationId });
const after = (of: keyof typeof callers) => () => ({ before: middle[of] });

/** Each statement with the index that it goes by, and how many rows of refused requests it may read. */
const STATEMENTS: [
  name: string,
  index: string,
  rowsMax: number,
  use: (database: Database) => Promise<unknown>,
][] = [
  ['the newest', 'refused_requests_account', PAGE_ROWS_MAX, list('noisy', () => ({}))],
  [
    'a page in the middle',
    'refused_requests_account',
    PAGE_ROWS_MAX,
    list('noisy', () => ({}), after('noisy')),
  ],
  ['those of an hour', 'refused_requests_account', PAGE_ROWS_MAX, list('noisy', () => ({ hours: 1 }))],
  ['another account’s, which are few', 'refused_requests_account', PAGE_ROWS_MAX, list('other', () => ({}))],
  [
    'a later page of those',
    'refused_requests_account',
    PAGE_ROWS_MAX,
    list('other', () => ({}), after('other')),
  ],
  [
    'those of the noisy application',
    'refused_requests_application',
    PAGE_ROWS_MAX,
    list('noisy', () => only('noisy')),
  ],
  [
    'those of the quiet application',
    'refused_requests_application',
    PAGE_ROWS_MAX,
    list('quiet', () => only('quiet')),
  ],
  [
    'a later page of those',
    'refused_requests_application',
    PAGE_ROWS_MAX,
    list('quiet', () => only('quiet'), after('quiet')),
  ],
  [
    'those of the quiet application of a day',
    'refused_requests_application',
    PAGE_ROWS_MAX,
    list('quiet', () => ({ ...only('quiet'), hours: 24 })),
  ],
  [
    'those with a rare code',
    'refused_requests_code',
    PAGE_ROWS_MAX,
    list('noisy', () => ({ code: 'invalid_json' })),
  ],
  [
    'those with a code that there is not',
    'refused_requests_code',
    PAGE_ROWS_MAX,
    list('noisy', () => ({ code: 'payload_too_large', hours: 24 })),
  ],
  [
    'those of the quiet application with a code',
    'refused_requests_application_code',
    PAGE_ROWS_MAX,
    list('quiet', () => ({ ...only('quiet'), code: 'rate_limited' })),
  ],
  [
    'those of the quiet application with a code that the noisy one has',
    'refused_requests_application_code',
    PAGE_ROWS_MAX,
    list('quiet', () => ({ ...only('quiet'), code: 'invalid_json' })),
  ],
  [
    'the one with an id',
    'refused_requests_pkey',
    1,
    find('noisy', () => ({ requestId: middle.noisy, idempotencyKeyHashes: [] })),
  ],
  [
    'the one with an idempotency key',
    'refused_requests_idempotency_key',
    3,
    find('noisy', () => ({ idempotencyKeyHashes: [sha256('key 9')] })),
  ],
  [
    'those with an idempotency key that a client repeats without end',
    'refused_requests_idempotency_key',
    PAGE_ROWS_MAX,
    find('noisy', () => ({ idempotencyKeyHashes: [sha256('the same')] })),
  ],
  [
    'a later page of those, and what has an id or another key',
    'refused_requests_idempotency_key',
    PAGE_ROWS_MAX + 3,
    find(
      'noisy',
      () => ({ requestId: middle.quiet, idempotencyKeyHashes: [sha256('the same'), sha256('key 9')] }),
      after('noisy'),
    ),
  ],
  [
    'another account’s with that key',
    'refused_requests_idempotency_key',
    PAGE_ROWS_MAX,
    find('other', () => ({ idempotencyKeyHashes: [sha256('the same')] })),
  ],
  [
    'the sums of the quiet application',
    'refused_request_counts_application',
    QUIET,
    (database) => sumRefusedRequests(database, callers.quiet.accountId, only('quiet')),
  ],
  [
    'the sums of the quiet application of a day',
    'refused_request_counts_application',
    QUIET / 14 + 2,
    (database) => sumRefusedRequests(database, callers.quiet.accountId, { ...only('quiet'), hours: 24 }),
  ],
  [
    // Three codes in each of its minutes at the most, and some of the quiet application's.
    'the sums of an hour',
    'refused_request_counts_pkey',
    62 * 3,
    (database) => sumRefusedRequests(database, callers.noisy.accountId, { hours: 1 }),
  ],
  [
    'another account’s sums',
    'refused_request_counts_pkey',
    QUIET,
    (database) => sumRefusedRequests(database, callers.other.accountId, {}),
  ],
  [
    'another account’s sums of a day',
    'refused_request_counts_pkey',
    QUIET / 14 + 2,
    (database) => sumRefusedRequests(database, callers.other.accountId, { hours: 24 }),
  ],
  [
    'the applications that have any',
    'refused_request_counts_application',
    2,
    (database) => listRefusedApplications(database, callers.noisy.accountId),
  ],
];

/** The nodes of the plans that read a table or an index. */
async function readsOf(use: (database: Database) => Promise<unknown>, mode: string): Promise<Node[]> {
  const nodes = nodesOf(await plansOf(store.url, await statementsOf(store.database, use), mode));
  return nodes.filter((node) => node['Index Name'] !== undefined || node['Node Type'] === 'Seq Scan');
}
const inOneGo = (nodes: readonly Node[]): Node[] =>
  nodes.filter(
    (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name']?.startsWith('refused_request'),
  );

describe.each(['force_custom_plan', 'force_generic_plan'])(
  'of a million refused requests, with %s',
  (mode) => {
    it.each(STATEMENTS)('%s are found by index, and no others', async (_, index, rowsMax, use) => {
      const reads = await readsOf(use, mode);
      expect(inOneGo(reads)).toEqual([]);
      expect(reads.map((node) => node['Index Name'])).toContain(index);
      const rows = reads
        .filter((node) => node['Index Name']?.startsWith('refused_request'))
        .map(
          (node) =>
            (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
        );
      expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(rowsMax);
      // Rows that an index reads and passes over are counted by their pages alone.
      const pages = reads.map((node) => node['Shared Hit Blocks'] + node['Shared Read Blocks']);
      expect(pages.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(5 * rowsMax + 60);
    });

    it('keeping one more reads no table', async () => {
      const keep = (database: Database): Promise<void> =>
        refuseRequests(database, callers.noisy, 'invalid_json', [{}]);
      expect(inOneGo(await readsOf(keep, mode))).toEqual([]);
    });
  },
);

it('old refused requests, and counts of minutes, are looked up by their age', async () => {
  const reads = await readsOf((database) => deleteOldRefusedRequests(database, 200), 'force_custom_plan');
  expect(inOneGo(reads)).toEqual([]);
  expect(reads.map((node) => node['Index Name'])).toEqual(
    expect.arrayContaining(['refused_requests_refused_at', 'refused_request_counts_minute']),
  );
});
