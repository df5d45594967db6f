import { hashApiKey } from '@onecode/domain';
import {
  changeRoutedSend,
  changeReportedSend,
  changeSend,
  countMessageCosts,
  createSend,
  deleteOldSenderRecipientWindows,
  deleteOldReceipts,
  findCaller,
  findSend,
  finishReceipts,
  placeHold,
  limitApplication,
  readAttemptMinutes,
  readBreakerEvidence,
  readProviderAnswers,
  readReceiptStatistics,
  readWaitingSends,
  recordIdentities,
  releaseHold,
  storeReceipts,
  takeDueReceipts,
  takeDueSends,
  wakeAwaitingSends,
  type Database,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  buildSender,
  newSend,
  takeSlots,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { nodesOf, plansOf, statementsOf, type Node } from './statementPlans.js';

const SENDS = 20_000;
/** Tables that grow with use. The others have a few rows, which are best read in one go. */
const LARGE = new Set([
  'sends',
  'attempts',
  'receipts',
  'ledger_entries',
  'api_keys',
  'guess_budgets',
  'sender_recipient_windows',
]);

const store = useTestDatabase();
let caller: TestCaller;
let sendId: string;
let attemptId: string;
let dueId: string;

beforeAll(async () => {
  caller = await buildCaller(store.database, 'live', { freeQuota: 1_000_000, ratePerMinute: 600 });
  await limitApplication(store.database, TEST_ACTOR, caller.applicationId, {
    perMinute: 60,
    perRecipientHour: 5,
  });
  await buildSender(store.database);
  await fill();
  [{ id: sendId, attempt: attemptId }] = (await store.sql<{ id: string; attempt: string }>(
    `select s.id, a.id as attempt from sends s join attempts a on a.send_id = s.id where s.account_number = 77`,
  )) as [{ id: string; attempt: string }];
  dueId = await buildSend(store.database, caller, { recipient: '+5521987654321' });
}, 120_000);

/** A day of one busy account: most sends are over, some wait for a retry or a sender, a few are due. */
async function fill(): Promise<void> {
  await store.sql(
    `insert into sends (id, request_id, account_id, application_id, mode, account_number, application_number, idempotency_key,
       body_hash, recipient, canonical_recipient, country, locale, charged_from, code_hash, sealed_code, status, channel, from_number, sender_id,
       awaiting_sender, due_at, next_enqueue_at, sent_at, created_at, expires_at)
     select gen_random_uuid(), gen_random_uuid(), $1, $2, 'live', n, n, convert_to('key ' || n, 'utf8'), sha256('{}'),
       phone, phone, 'BR', 'pt-BR', 'free_quota', convert_to(repeat('h', 33), 'utf8'),
       case when waits then 'sealed'::bytea end, case when waits then 'sending' else 'sent' end, 'whatsapp',
       senders.number, senders.id, n % 40 = 1,
       case when waits then due end, case when waits then due + interval '1 second' end,
       case when not waits then made end, made, made + interval '10 minutes'
     from generate_series(1, ${SENDS}) n, senders,
       lateral (select n % 20 = 1 as waits, now() - make_interval(secs => 4 * (${SENDS} - n) + 60) as made,
         case when n % 2000 = 1 then now() - interval '1 minute' else now() + interval '5 minutes' end as due,
         '+55119' || lpad((n % 3000)::text, 8, '0') as phone) as t`,
    [caller.accountId, caller.applicationId],
  );
  for (const statement of [
    `insert into attempts (id, send_id, sender_id, outcome, message_id, started_at, finished_at)
       select (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '70008000'
         || lpad(to_hex(account_number), 12, '0'))::uuid,
         id, sender_id, 'accepted', 'wamid.' || account_number, created_at, created_at from sends`,
    `insert into ledger_entries (account_id, send_id, kind, bucket, units)
       select account_id, id, 'reserved', charged_from, 1 from sends`,
    `insert into receipts (message_id, status, occurred_at, received_at, due_at, result)
       select 'wamid.' || n, 'delivered', now(), now() - make_interval(secs => 34.6 * (${SENDS} - n)),
         case when n % 1000 = 0 then now() - interval '1 second' when n % 100 = 0 then now() + interval '1 minute' end,
         case when n % 100 <> 0 then 'applied' end
       from generate_series(1, ${SENDS}) n`,
    `insert into api_keys (id, application_id, hash, hint)
       select gen_random_uuid(), applications.id, sha256(convert_to('key ' || n, 'utf8')), 'hint'
       from generate_series(1, 5000) n, applications`,
    `insert into sender_recipient_windows (sender_id, recipient_hash, free_at)
       select senders.id, hashtextextended('+55119' || lpad(n::text, 8, '0'), 0), now() - make_interval(secs => 260 - n % 300)
       from generate_series(1, ${SENDS}) n, senders`,
    `insert into guess_budgets (account_id, mode, recipient, wrong_in_a_row, last_wrong_at)
       select accounts.id, 'live', '+55119' || lpad(n::text, 8, '0'), 1, now()
       from generate_series(0, 2999) n, accounts`,
    `update accounts set sends_created = ${SENDS}, breaker_unverified_percent = 90, breaker_min_sends = 50`,
    `update applications set sends_created = ${SENDS}`,
    'analyze',
  ])
    await store.sql(statement);
}

const repeat = (n: number) => newSend(caller, { idempotencyKey: `key ${n}`, recipient: '+5511900000077' });

const WINDOWS = ['sends_account_number', 'sends_application_number', 'sends_to_recipient'];

/** Each hot path with the indexes that it goes by, and the condition that has to be looked up and not filtered. */
const HOT: [
  name: string,
  indexes: string[],
  condition: RegExp,
  use: (database: Database) => Promise<unknown>,
][] = [
  [
    'the caller behind a key',
    ['api_keys_hash_key'],
    /hash = /,
    (database) => findCaller(database, hashApiKey(caller.key)),
  ],
  [
    'a creation: idempotency look-up, three windows and the guess budget',
    [...WINDOWS, 'sends_idempotency_key', 'guess_budgets_pkey', 'api_keys_pkey'],
    /application_id = .* AND .*idempotency_key = /,
    (database) => createSend(database, repeat(1_000_000)),
  ],
  [
    'an idempotent repeat',
    ['sends_idempotency_key'],
    /idempotency_key = /,
    (database) => createSend(database, repeat(77)),
  ],
  ['a status', ['sends_pkey'], /id = /, (database) => findSend(database, caller.accountId, sendId)],
  [
    'a guess',
    ['sends_pkey', 'guess_budgets_pkey'],
    /recipient = /,
    (database) =>
      changeSend(database, { id: sendId, accountId: caller.accountId }, (send) => ({
        result: null,
        change: { verification: 'verified', verifiedAt: send.createdAt },
      })),
  ],
  [
    'a delivery',
    ['sends_pkey'],
    /id = /,
    (database) =>
      changeSend(database, { id: sendId, accountId: caller.accountId }, (send) => ({
        result: null,
        change: { deliveredAt: send.createdAt },
        attempts: [{ id: attemptId, senderId: null, outcome: 'accepted', errorCode: null, messageId: null }],
      })),
  ],
  ['the evidence for the breaker', ['sends_account_number'], /account_number > /, readBreakerEvidence],
  [
    'a report by its attempt',
    ['attempts_pkey', 'attempts_send_id_idx', 'sends_pkey'],
    /send_id = /,
    (database) =>
      changeReportedSend(database, { attemptId, messageId: 'wamid.none' }, () => ({ result: null })),
  ],
  [
    'a report by its message id',
    ['attempts_message_id_idx', 'sends_pkey'],
    /message_id = /,
    (database) =>
      changeReportedSend(database, { attemptId: null, messageId: 'wamid.77' }, () => ({ result: null })),
  ],
  [
    'due sends',
    ['sends_next_enqueue_at'],
    /next_enqueue_at <= /,
    (database) => takeDueSends(database, 500, false),
  ],
  [
    'due sends without a queue',
    ['sends_next_enqueue_at'],
    /next_enqueue_at <= /,
    (database) => takeDueSends(database, 500, true),
  ],
  [
    'sends that wait for a sender',
    ['sends_awaiting_turn', 'sender_recipient_windows_pkey'],
    /recipient_hash = /,
    (database) => wakeAwaitingSends(database, 100, 1000),
  ],
  [
    'send slots',
    ['sender_recipient_windows_pkey'],
    /recipient_hash = /,
    (database) =>
      takeSlots(
        database,
        Array.from({ length: 20 }, (_, n) => ({
          accountId: caller.accountId,
          recipient: `+5511900000${100 + n}`,
          country: 'BR',
        })),
        1000,
      ),
  ],
  [
    'a send with its send slot',
    ['sends_pkey', 'sender_recipient_windows_pkey'],
    /recipient_hash = /,
    (database) => changeRoutedSend(database, dueId, () => ({ result: null })),
  ],
  [
    'sender–recipient windows that are over',
    ['sender_recipient_windows_free_at'],
    /free_at <= /,
    (database) => deleteOldSenderRecipientWindows(database, 500),
  ],
  ['due receipts', ['receipts_due_at'], /due_at <= /, (database) => takeDueReceipts(database, 200)],
  [
    'receipts that are done with',
    ['receipts_pkey'],
    /id = ANY/,
    (database) => finishReceipts(database, [1n, 2n, 3n], 'applied'),
  ],
  [
    'the prices in receipts',
    ['receipts_pkey', 'attempts_pkey', 'sends_pkey'],
    /id = /,
    (database) => countMessageCosts(database, [1n, 2n, 3n]),
  ],
  [
    'the identities in receipts',
    ['receipts_pkey', 'attempts_pkey', 'sends_pkey'],
    /id = /,
    (database) => recordIdentities(database, [1n, 2n, 3n]),
  ],
];

/** The large tables that some plan reads from end to end. */
const readInOneGo = (nodes: readonly Node[]): string[] =>
  nodes
    .filter((node) => node['Node Type'] === 'Seq Scan')
    .map((node) => node['Relation Name'] ?? '')
    .filter((table) => LARGE.has(table));

describe.each(['force_custom_plan', 'force_generic_plan'])('with a day of sends and %s', (mode) => {
  it.each(HOT)('%s goes by index', async (_, indexes, condition, use) => {
    const nodes = nodesOf(await plansOf(store.url, await statementsOf(store.database, use), mode));
    expect(nodes.length).toBeGreaterThan(0);
    expect(readInOneGo(nodes)).toEqual([]);
    const used = new Set(nodes.map((node) => node['Index Name']));
    expect(indexes.filter((index) => !used.has(index))).toEqual([]);
    const conditions = nodes.map((node) => node['Index Cond'] ?? '');
    expect(conditions.filter((text) => condition.test(text))).not.toEqual([]);
  });

  it('storing receipts reads no table', async () => {
    const receipt = {
      messageId: 'wamid.77',
      attemptId,
      status: 'read',
      occurredAt: new Date(),
      failure: null,
    } as const;
    const statements = await statementsOf(store.database, (database) => storeReceipts(database, [receipt]));
    expect(readInOneGo(nodesOf(await plansOf(store.url, statements, mode)))).toEqual([]);
  });
});

it('old receipts are looked up by their age', async () => {
  const statements = await statementsOf(store.database, (database) => deleteOldReceipts(database, 8, 500));
  const nodes = nodesOf(await plansOf(store.url, statements, 'force_custom_plan'));
  expect(readInOneGo(nodes)).toEqual([]);
  expect(nodes.find((node) => node['Index Name'] === 'receipts_received_at')?.['Index Cond']).toMatch(
    /received_at < /,
  );
});

it.each<[string, string, (database: Database) => Promise<unknown>]>([
  ['sends that are not over', 'sends_next_enqueue_at', readWaitingSends],
  ['calls by minute', 'attempts_pkey', (database) => readAttemptMinutes(database, 30)],
  ['the provider’s answers', 'attempts_pkey', (database) => readProviderAnswers(database, 5)],
  ['receipts of late', 'receipts_received_at', readReceiptStatistics],
])('what the health page reads goes by index: %s', async (_, index, read) => {
  const statements = await statementsOf(store.database, read);
  const nodes = nodesOf(await plansOf(store.url, statements, 'force_custom_plan'));
  expect(readInOneGo(nodes)).toEqual([]);
  expect(nodes.map((node) => node['Index Name'])).toContain(index);
});

it('of waiting sends a few are read, and one while no sender has a slot, or a hold matches all of them', async () => {
  const rowsRead = async (): Promise<number> => {
    const statements = await statementsOf(store.database, (database) => wakeAwaitingSends(database, 5, 1000));
    const nodes = nodesOf(await plansOf(store.url, statements, 'force_generic_plan'));
    return nodes
      .filter((node) => node['Relation Name'] === 'sends')
      .reduce((sum, node) => sum + node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0), 0);
  };
  // Some for each of the five, of the hundreds that wait.
  const some = await rowsRead();
  expect(some).toBeGreaterThan(5);
  expect(some).toBeLessThan(60);
  await placeHold(store.database, TEST_ACTOR, { kind: 'live', target: '', reason: 'a test' });
  expect(await rowsRead()).toBe(1);
  await releaseHold(store.database, TEST_ACTOR, { kind: 'live', target: '' });
  expect(await rowsRead()).toBe(some);
  await store.sql(`update senders set paused_at = now(), pause_reason = 'test', pause_source = 'operator'`);
  expect(await rowsRead()).toBe(1);
});
