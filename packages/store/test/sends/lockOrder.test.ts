import { judge } from '@onecode/domain';
import {
  changeSend,
  closeDatabase,
  createSend,
  openDatabase,
  type Connection,
  type Database,
} from '@onecode/store';
import { buildCaller, buildSend, newSend, until, useTestDatabase, type TestCaller } from '@onecode/testing';

const PROCESSES = 3;
const ROWS = 30;
/** Longer than `until` waits on a busy machine. */
const HELD_MS_MAX = 20_000;
const ROUNDS = [0, 1, 2];

const store = useTestDatabase();

/**
 * Lets several processes, each with connections of its own, begin while a row in the middle is held, so that each of them holds
 * what it has locked by then. @returns how often some waited for each other in a circle
 */
async function deadlocksOf(
  hold: (connection: Connection) => Promise<unknown>,
  work: (database: Database, process: number) => Promise<unknown>,
): Promise<number> {
  const before = await deadlocks();
  const processes = Array.from({ length: PROCESSES }, () => openDatabase(store.url, { connectionsMax: 4 }));
  let ended: Promise<unknown> | undefined;
  await store.database.transaction(
    async (connection) => {
      await hold(connection);
      ended = Promise.all(processes.map(work));
      await until('every process waits for a lock', async () => (await store.countLockWaits()) >= PROCESSES);
    },
    { timeout: HELD_MS_MAX },
  );
  await ended;
  // A connection that ends leaves what it has counted.
  await Promise.all(processes.map(closeDatabase));
  return (await deadlocks()) - before;
}

async function deadlocks(): Promise<number> {
  const [row] = await store.sql<{ count: number }>(
    'select deadlocks::integer as count from pg_stat_database where datname = current_database()',
  );
  return row!.count;
}

/** The list from another place on, and backwards every other time: no two processes come in one order. */
function turned<T>(list: readonly T[], by: number): T[] {
  const begun = [...list.slice(by * 7), ...list.slice(0, by * 7)];
  return by % 2 === 0 ? begun : begun.toReversed();
}

/** In ascending order, as what is sorted in the database. */
const middleOf = (list: readonly string[]): string => list.toSorted()[ROWS / 2]!;

const guess = (database: Database, id: string, isRight: boolean) =>
  changeSend(database, { id }, (send, now) => judge(send, now, () => isRight));

const recipients = Array.from({ length: ROWS }, (_, place) => `+5511987${100_000 + place}`);

const sendToEach = (caller: TestCaller): Promise<string[]> =>
  Promise.all(recipients.map((recipient) => buildSend(store.database, caller, { recipient })));

describe('processes that write the same rows in groups never wait for each other in a circle', () => {
  it.each(ROUNDS)('with guesses at the same sends (%i)', async () => {
    const ids = await sendToEach(await buildCaller(store.database, 'test'));
    const found = await deadlocksOf(
      (held) => held.sql.execute`select from sends where id = ${middleOf(ids)}::uuid for update`,
      (database, process) =>
        Promise.all(turned(ids, process).map((id) => guess(database, id, process === 0))),
    );
    expect(found).toBe(0);
    const verified = await store.sql(`select from sends where id = any($1) and verification = 'verified'`, [
      ids,
    ]);
    expect(verified).toHaveLength(ROWS);
  });

  it.each([
    { what: 'wrong', isRight: () => false },
    { what: 'wrong and right', isRight: (turn: number) => turn % 3 === 0 },
  ])('with $what guesses at sends of the same recipients', async ({ isRight }) => {
    for (const _ of ROUNDS) {
      const caller = await buildCaller(store.database, 'test');
      const own = await Promise.all(Array.from({ length: PROCESSES }, () => sendToEach(caller)));
      // Counts that are there are what a right guess locks.
      await Promise.all(own[0]!.map((id) => guess(store.database, id, false)));
      const found = await deadlocksOf(
        (held) =>
          held.sql.execute`select from guess_budgets where account_id = ${caller.accountId}::uuid
          and recipient = ${middleOf(recipients)} for update`,
        (database, process) =>
          Promise.all(turned(own[process]!, process).map((id, turn) => guess(database, id, isRight(turn)))),
      );
      expect(found).toBe(0);
    }
  });

  it.each(ROUNDS)('with creations of the same accounts (%i)', async () => {
    const callers = await Promise.all(recipients.map(() => buildCaller(store.database, 'test')));
    const held = middleOf(callers.map(({ accountId }) => accountId));
    const found = await deadlocksOf(
      (connection) => connection.sql.execute`select from accounts where id = ${held}::uuid for update`,
      async (database, process) => {
        const made = await Promise.all(
          turned(callers, process).map((caller) => createSend(database, newSend(caller))),
        );
        expect(new Set(made.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
      },
    );
    expect(found).toBe(0);
  });
});
