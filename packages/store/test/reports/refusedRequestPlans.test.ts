import { createHash } from 'node:crypto';
import {
  deleteOldRefusedRequests,
  listRefusedApplications,
  listRefusedRequests,
  sumRefusedRequests,
  type Database,
  type Page,
  type RefusedRequestFilter,
} from '@onecode/store';
import { buildCaller, refuseRequests, useTestDatabase, type TestCaller } from '@onecode/testing';
import { nodesOf, plansOf, statementsOf, type Node } from '../client/statementPlans.js';

/** Of each account, one in twenty minutes: two weeks and a little more. They lie in the table as they came. */
const REQUESTS = 1_050;
/** Where a few accounts have nearly all of them, the newest of one are among the newest of all, and PostgreSQL may look for them there. */
const OTHER_ACCOUNTS = 99;
/** No other account's: those of one that has few may all be read and sorted. One more is the row that a cursor names. */
const PAGE_ROWS_MAX = REQUESTS + 1;

const store = useTestDatabase();
let caller: TestCaller;
let middle: string;
beforeAll(async () => {
  caller = await buildCaller(store.database, 'test');
  await store.sql(
    `insert into refused_requests (request_id, account_id, application_id, key_id, refused_at, route, status, code, idempotency_key_hash)
     select gen_random_uuid(), account, case when account = $1 then $2::uuid else account end, $3, now() - interval '20 minutes' * n,
       'POST /v1/send', 422, case when n % 100 = 0 then 'invalid_json' else 'invalid_recipient' end,
       case when n % 2 = 0 then sha256(convert_to('key ' || n, 'utf8')) end
     from generate_series(1, ${REQUESTS}) n,
       (select $1::uuid as account union all select gen_random_uuid() from generate_series(1, ${OTHER_ACCOUNTS})) accounts
     order by n desc`,
    [caller.accountId, caller.applicationId, caller.keyId],
  );
  await store.sql(
    `insert into refused_request_counts (account_id, minute, application_id, code, count, last_refused_at)
     select account_id, date_bin('1 minute', refused_at, 'epoch') as minute, application_id, code, count(*), max(refused_at)
     from refused_requests group by 1, 2, 3, 4`,
  );
  await store.sql('analyze');
  [{ id: middle }] = (await store.sql<{ id: string }>(
    'select request_id as id from refused_requests where account_id = $1 order by refused_at offset 500 limit 1',
    [caller.accountId],
  )) as [{ id: string }];
}, 120_000);

const listed =
  (filter: () => RefusedRequestFilter, page: () => Page = () => ({ limit: 50 })) =>
  (database: Database): Promise<unknown> =>
    listRefusedRequests(database, caller.accountId, filter(), page());

const hash = createHash('sha256').update('key 500').digest();

/** Each statement with an index that it goes by, and how many rows it may read. */
const STATEMENTS: [
  name: string,
  index: string,
  rowsMax: number,
  use: (database: Database) => Promise<unknown>,
][] = [
  ['the newest', 'refused_requests_account', PAGE_ROWS_MAX, listed(() => ({}))],
  [
    'a page in the middle',
    'refused_requests_account',
    PAGE_ROWS_MAX,
    listed(
      () => ({}),
      () => ({ limit: 50, before: middle }),
    ),
  ],
  ['those of an hour', 'refused_requests_account', PAGE_ROWS_MAX, listed(() => ({ hours: 1 }))],
  [
    'those with a rare code',
    'refused_requests_code',
    PAGE_ROWS_MAX,
    listed(() => ({ code: 'invalid_json' })),
  ],
  [
    'those of the application that has them',
    'refused_requests_account',
    PAGE_ROWS_MAX,
    listed(() => ({ applicationId: caller.applicationId })),
  ],
  [
    'the one with an id',
    'refused_requests_pkey',
    10,
    listed(() => ({ search: { requestId: middle, idempotencyKeyHashes: [] } })),
  ],
  [
    'those with an idempotency key',
    'refused_requests_idempotency_key',
    10,
    listed(() => ({ search: { idempotencyKeyHashes: [hash] } })),
  ],
  [
    'the sums of a day',
    'refused_request_counts_pkey',
    80,
    (database) => sumRefusedRequests(database, caller.accountId, { hours: 24 }),
  ],
  [
    'the applications that have any',
    'refused_request_counts_pkey',
    10,
    (database) => listRefusedApplications(database, caller.accountId),
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

describe.each(['force_custom_plan', 'force_generic_plan'])('of many refused requests, with %s', (mode) => {
  it.each(STATEMENTS)('%s are found by index', async (_, index, rowsMax, use) => {
    const reads = await readsOf(use, mode);
    expect(inOneGo(reads)).toEqual([]);
    expect(reads.map((node) => node['Index Name'])).toContain(index);
    const rows = reads
      .filter((node) => node['Index Name']?.startsWith('refused_request'))
      .map(
        (node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * (node['Actual Loops'] ?? 1),
      );
    expect(rows.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(rowsMax);
  });

  it('keeping one more reads no table', async () => {
    const keep = (database: Database): Promise<void> =>
      refuseRequests(database, caller, 'invalid_json', [{}]);
    expect(inOneGo(await readsOf(keep, mode))).toEqual([]);
  });
});

it('old refused requests, and counts of minutes, are looked up by their age', async () => {
  const reads = await readsOf((database) => deleteOldRefusedRequests(database, 200), 'force_custom_plan');
  expect(inOneGo(reads)).toEqual([]);
  expect(reads.map((node) => node['Index Name'])).toEqual(
    expect.arrayContaining(['refused_requests_refused_at', 'refused_request_counts_minute']),
  );
});
