import { hashApiKey, settle } from '@onecode/domain';
import { findCaller } from '@onecode/store/accounts';
import { closeDatabase, newId, openDatabase, type Database } from '@onecode/store/client';
import type { Sender } from '@onecode/store/senders';
import { changeSend, createSend, findSend, openDeliveries } from '@onecode/store/sends';
import {
  applyTestReports,
  buildCaller,
  buildSender,
  concurrently,
  createTestDatabase,
  guessCode,
  newSend,
  until,
  type TestCaller,
  type TestDatabase,
} from '@onecode/testing';

const LEASE_MS = 15_000;
const POLICY = { attemptsMax: 5, backoffMs: 1_000 };
const SENDS = 3_000;
const CALLERS = 150;
/** All statements for one send together read about sixty rows. */
const ROWS_READ_MAX = 200;

let store: TestDatabase;
let sender: Sender;
/** Opens a database like the API and the worker do, with one connection, so that every statement keeps the plan of its first use. */
let early: Database;

const callerWithCredits = (database: Database): Promise<TestCaller> =>
  buildCaller(database, 'live', { freeQuota: 0, credits: 10_000, ratePerMinute: 100_000 });

/** Does everything that the API and the worker do for a send, from the look-up of its key to its second guess. */
async function live(caller: TestCaller): Promise<void> {
  expect(await findCaller(early, hashApiKey(caller.key))).toMatchObject({ accountId: caller.accountId });
  const creation = await createSend(early, newSend(caller, { idempotencyKey: newId() }));
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  const { id } = creation.send;
  expect(await findSend(early, { id, accountId: caller.accountId })).not.toBeUndefined();

  const deliveries = openDeliveries(early, LEASE_MS);
  const taken = await deliveries.take(id);
  expect(taken).toMatchObject({ phase: 'calling', senderId: sender.id });
  await deliveries.takeDue(1);
  const messageId = `wamid.${id}`;
  await changeSend(early, taken!, (send, now) =>
    settle(send, now, 1, { kind: 'accepted', messageId }, POLICY),
  );
  for (const attempt of [{ sendId: id, number: 1 }, null]) {
    const report = { messageId, attempt, occurredAt: new Date(), failure: null };
    await applyTestReports(early, {
      receipts: [{ ...report, status: attempt === null ? 'read' : 'delivered' }],
    });
  }
  for (const isRight of [false, true]) await guessCode(early, id, isRight);
  expect((await findSend(early, { id, accountId: caller.accountId }))!).toMatchObject({
    status: 'read',
    verification: 'verified',
  });
}

async function areGrowing(): Promise<boolean> {
  return (await store.sql(`select from pg_stat_activity where application_name = 'growing'`)).length > 0;
}

/** Counts the rows that were read in all tables, by any plan. */
async function rowsRead(): Promise<number> {
  await early.sql.query`select pg_stat_force_next_flush()::text`;
  const [row] = await store.sql<{ read: number }>(
    'select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::integer as read from pg_stat_user_tables',
  );
  return row!.read;
}

describe('statements planned while every table was empty', () => {
  beforeAll(async () => {
    store = await createTestDatabase();
    sender = await buildSender(store.database, { throughput: 1_000 });
    early = openDatabase(store.url, { connectionsMax: 1, byIndexOnly: true });
  });
  afterAll(async () => {
    await closeDatabase(early);
    await store.drop();
  });

  it('read only their rows after the tables have grown, without new statistics', async () => {
    // New statistics would make PostgreSQL plan the statements again.
    for (const table of ['sends', 'attempts', 'guess_budgets', 'api_keys', 'applications', 'accounts'])
      await store.sql(`alter table ${table} set (autovacuum_enabled = false)`);
    const first = await callerWithCredits(store.database);
    await live(first);

    const growing = openDatabase(`${store.url}?application_name=growing`, { connectionsMax: 4 });
    for (let made = 0; made < CALLERS; made++) await callerWithCredits(growing);
    await concurrently(Array.from({ length: SENDS }).keys(), 100, async (index) => {
      await createSend(growing, newSend(first, { recipient: `+5511${900_000_000 + index}` }));
      // The pool would close a connection that is idle for ten seconds, and its plans would be lost.
      if (index % 500 === 0) await early.sql.query`select 1`;
    });
    await growing.sql.execute`
      with called as (
        insert into attempts (send_id, number, sender_id, outcome, message_id, started_at, finished_at)
        select id, 1, ${sender.id}::uuid, 'accepted', 'wamid.' || id || '.old', now(), now() from sends
        where status = 'queued'
      ) insert into guess_budgets (account_id, recipient_key, points, last_wrong_at)
      select ${first.accountId}::uuid, recipient_key, 1, now() from sends where status = 'queued'`;
    expect(await areGrowing()).toBe(true);
    await closeDatabase(growing);
    // A search for due sends reads the new ones, which are left to their jobs for two seconds.
    const grownAt = performance.now();
    await until('no new send', () => performance.now() - grownAt > 2_000);
    // A connection may report its reads only when it ends.
    await until('the end of its connections', async () => !(await areGrowing()));

    const before = await rowsRead();
    await live(first);
    expect((await rowsRead()) - before).toBeLessThan(ROWS_READ_MAX);
  });
});
