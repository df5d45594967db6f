import { setImmediate as endOfTurn } from 'node:timers/promises';
import { failure, settle, type FailureReason, type RetryPolicy } from '@onecode/domain';
import { claim } from '@onecode/testing/claim-model';
import { grantCredits } from '@onecode/store/accounts';
import { closeDatabase, openDatabase, type Connection, type Database } from '@onecode/store/client';
import type { Sender } from '@onecode/store/senders';
import { changeSend, createSend, findSend, verifySend } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  buildSender,
  guessCode,
  newSend,
  recipientKeysOf,
  TEST_ACTOR,
  until,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';

const store = useTestDatabase();

describe('a batch', () => {
  const POLICY: RetryPolicy = { attemptsMax: 5, backoffMs: 1_000 };
  const TOGETHER = 60;
  const SAME = '+5511987654321';

  let callers: TestCaller[];
  let sender: Sender;
  beforeAll(async () => {
    sender = await buildSender(store.database);
    callers = await Promise.all(
      Array.from({ length: 6 }, () =>
        buildCaller(store.database, 'live', { freeQuota: 0, credits: 1_000, ratePerMinute: 1_000_000 }),
      ),
    );
  });

  const callerOf = (index: number): TestCaller => callers[index % callers.length]!;

  /** Returns how many transactions this database has committed. */
  async function commits(): Promise<number> {
    await store.sql('select pg_stat_force_next_flush()');
    const [row] = await store.sql<{ count: number }>(
      'select xact_commit::integer as count from pg_stat_database where datname = current_database()',
    );
    return row!.count;
  }

  /** Claims a send and writes its outcome, like a worker. */
  async function deliver(id: string, messageId = `wamid.${id}`): Promise<string | undefined> {
    const permit = { sender, waitMs: 0 };
    await changeSend(store.database, { id }, (send, now) =>
      claim(send, now, { leaseMs: 15_000, policy: POLICY, permit }),
    );
    const accepted = { kind: 'accepted', messageId } as const;
    const end = await changeSend(store.database, { id }, (send, now) =>
      settle(send, now, 1, accepted, POLICY),
    );
    return end ?? undefined;
  }

  it('creates each send as if it were created alone, in far fewer transactions', async () => {
    const before = await commits();
    const wanted = Array.from({ length: TOGETHER }, (_, index) =>
      newSend(callerOf(index), { recipient: `+5511987${650_000 + index}` }),
    );
    const creations = await Promise.all(wanted.map((send) => createSend(store.database, send)));

    expect(new Set(creations.map(({ outcome }) => outcome))).toEqual(new Set(['created']));
    expect((await commits()) - before).toBeLessThan(TOGETHER / 3);
    for (const [index, creation] of creations.entries()) {
      const { id, recipient, accountId } = wanted[index]!;
      expect(creation).toMatchObject({ send: { id } });
      expect(await findSend(store.database, { id, accountId })).toMatchObject({ recipient });
    }
  });

  it.each([
    { limit: 'of the account', account: { ratePerMinute: 7 }, application: '', waitMaxS: 60 },
    { limit: 'of the application', account: {}, application: 'per_minute = 7', waitMaxS: 60 },
    { limit: 'of the recipient', account: {}, application: 'per_recipient_hour = 7', waitMaxS: 3_600 },
  ])('keeps the limit $limit exactly, and returns the wait', async ({ account, application, waitMaxS }) => {
    const caller = await buildCaller(store.database, 'live', {
      freeQuota: 0,
      credits: 1_000,
      ratePerMinute: 1_000,
      ...account,
    });
    if (application !== '')
      await store.sql(`update applications set ${application} where id = $1`, [caller.applicationId]);
    // Some sends exist before, so that a window counts stored and new sends.
    for (let made = 0; made < 2; made++) await buildSend(store.database, caller, { recipient: SAME });
    const creations = await Promise.all(
      Array.from({ length: TOGETHER }, () =>
        createSend(store.database, newSend(caller, { recipient: SAME })),
      ),
    );
    expect(creations.filter(({ outcome }) => outcome === 'created')).toHaveLength(5);
    const refused = creations.flatMap((one) =>
      one.outcome === 'rate_limited' ? [one.retryAfterSeconds] : [],
    );
    expect(refused).toHaveLength(TOGETHER - 5);
    expect(Math.min(...refused)).toBeGreaterThan(waitMaxS - 30);
    expect(Math.max(...refused)).toBeLessThanOrEqual(waitMaxS);
    const [row] = await store.sql(
      `select a.sends_created::integer as account, p.sends_created::integer as application, a.credits,
         (select count(*)::integer from sends where account_id = a.id) as sends,
         (select count(*)::integer from ledger_entries where account_id = a.id and kind = 'reserved') as reserved
       from accounts a join applications p on p.account_id = a.id where a.id = $1`,
      [caller.accountId],
    );
    expect(row).toEqual({ account: 7, application: 7, credits: 993, sends: 7, reserved: 7 });
  });

  it('counts every wrong guess at many sends of few recipients, in any order', async () => {
    const caller = await buildCaller(store.database, 'live', { ratePerMinute: 1_000, credits: 1_000 });
    const recipients = ['+5511987000001', '+5511987000002', '+5511987000003'];
    const ids = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) =>
        buildSend(store.database, caller, { recipient: recipients[index % 3]! }),
      ),
    );
    const guess = (id: string, isRight: boolean) => guessCode(store.database, id, isRight);
    const budgets = () =>
      store.sql(
        `select s.recipient, points as wrong from guess_budgets b cross join lateral (
           select recipient from sends where recipient_key = b.recipient_key limit 1
         ) s where account_id = $1 and points > 0 order by recipient`,
        [caller.accountId],
      );
    // Guesses at each send twice, in opposite orders.
    await Promise.all([...ids, ...ids.toReversed()].map((id) => guess(id, false)));
    const each = (2 * TOGETHER) / 3;
    expect(await budgets()).toEqual(recipients.map((recipient) => ({ recipient, wrong: each })));
    // A right guess resets the budget.
    await Promise.all(ids.filter((_, index) => index % 3 === 1).map((id) => guess(id, true)));
    expect(await budgets()).toEqual(
      [recipients[0], recipients[2]].map((recipient) => ({ recipient, wrong: each })),
    );
  });

  it('resets only the guess budget of a correct guess’s recipient, including wrong guesses of the same batch', async () => {
    const [ours, theirs] = await Promise.all(
      [0, 1].map(() => buildCaller(store.database, 'live', { credits: 1_000 })),
    );
    const [first, second] = ['+5511987000011', '+5511987000012'];
    const guess = async (caller: TestCaller, recipient: string, isRight: boolean) => {
      const id = await buildSend(store.database, caller, { recipient });
      const { accountId, keyId } = caller;
      return () => verifySend(store.database, { id, accountId, keyId, matches: () => isRight });
    };
    const places = [ours!, theirs!].flatMap((caller) =>
      [first, second].map((recipient) => ({ caller, recipient })),
    );
    const before = await Promise.all(places.map(({ caller, recipient }) => guess(caller, recipient, false)));
    await Promise.all(before.map((made) => made()));
    const together = await Promise.all([
      ...places.map(({ caller, recipient }) => guess(caller, recipient, false)),
      guess(ours!, first, true),
      guess(theirs!, second, true),
    ]);
    await Promise.all(together.map((made) => made()));
    const left = await store.sql(
      `select account_id = $1 as ours, s.recipient, points as wrong from guess_budgets b cross join lateral (
         select recipient from sends where recipient_key = b.recipient_key limit 1
       ) s where points > 0 and account_id = any($2) order by recipient`,
      [ours!.accountId, [ours!.accountId, theirs!.accountId]],
    );
    expect(left).toEqual([
      { ours: false, recipient: first, wrong: 2 },
      { ours: true, recipient: second, wrong: 2 },
    ]);
  });

  it('creates all other sends if one creation is faulty', async () => {
    const ends = await Promise.allSettled(
      Array.from({ length: TOGETHER }, (_, index) =>
        createSend(store.database, newSend(callerOf(index), index === 30 ? { requestId: 'no UUID' } : {})),
      ),
    );
    expect(ends.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([30]);
  });

  it('is repeated one by one if a creation is faulty, while later requests of the account share batches', async () => {
    const [caller] = callers as [TestCaller];
    const first = Array.from({ length: 8 }, (_, index) =>
      createSend(store.database, newSend(caller, index === 4 ? { requestId: 'no UUID' } : {})),
    );
    const ends = Promise.allSettled(first);
    // The first batch has started.
    await endOfTurn();
    await endOfTurn();
    const following = Array.from({ length: 40 }, () => createSend(store.database, newSend(caller)));
    const ids = (await Promise.all(following)).flatMap((one) =>
      one.outcome === 'created' ? [one.send.id] : [],
    );
    expect(ids).toHaveLength(40);
    expect((await ends).filter(({ status }) => status === 'rejected')).toHaveLength(1);
    const [row] = await store.sql(
      'select count(distinct xmin::text)::integer as writes from sends where id = any($1)',
      [ids],
    );
    expect(row).toEqual({ writes: 1 });
  });

  it('writes all other changes if one change is faulty', async () => {
    const ids = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) => buildSend(store.database, callerOf(index))),
    );
    const ends = await Promise.allSettled(
      // PostgreSQL rejects text with a NUL character.
      ids.map((id, index) => deliver(id, index === 30 ? '\0' : undefined)),
    );
    expect(ends.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([30]);
    const sent = await store.sql<{ id: string; status: string; calls: number }>(
      `select id, status, (select count(*)::integer from attempts where send_id = s.id) as calls from sends s
       where id = any($1)`,
      [ids],
    );
    const states = new Map(sent.map(({ id, ...state }) => [id, state]));
    expect(ids.map((id) => states.get(id))).toEqual(
      ids.map((_, index) => (index === 30 ? { status: 'sending', calls: 0 } : { status: 'sent', calls: 1 })),
    );
  });

  it('returns a send only to its own account', async () => {
    const id = await buildSend(store.database, callerOf(0));
    const found = await Promise.all(
      Array.from({ length: TOGETHER }, (_, index) =>
        findSend(store.database, { id, accountId: callerOf(index).accountId }),
      ),
    );
    for (const [index, one] of found.entries())
      expect([index, one !== undefined]).toEqual([index, index % callers.length === 0]);
  });
});

describe('concurrent batches', () => {
  const PROCESSES = 3;
  const ROWS = 30;
  /** Longer than `until` waits on a busy machine. */
  const HELD_MS_MAX = 20_000;
  const ROUNDS = process.env['ALL_TESTS'] === '1' ? [0, 1] : [0];

  /**
   * Starts several processes, each with its own connections, while a row in the middle is locked, so that each of them holds the rows that
   * it has locked before. @returns the number of deadlocks
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
        await until(
          'every process waits for a lock',
          async () => (await store.countLockWaits()) >= PROCESSES,
        );
      },
      { timeout: HELD_MS_MAX },
    );
    await ended;
    // A connection reports its counts when it ends.
    await Promise.all(processes.map(closeDatabase));
    return (await deadlocks()) - before;
  }

  async function deadlocks(): Promise<number> {
    const [row] = await store.sql<{ count: number }>(
      'select deadlocks::integer as count from pg_stat_database where datname = current_database()',
    );
    return row!.count;
  }

  /** Returns the list rotated, and reversed every other time, so that no two processes use the same order. */
  function turned<T>(list: readonly T[], by: number): T[] {
    const begun = [...list.slice(by * 7), ...list.slice(0, by * 7)];
    return by % 2 === 0 ? begun : begun.toReversed();
  }

  /** Returns the middle entry in ascending order, like sorted rows in the database. */
  const middleOf = (list: readonly string[]): string => list.toSorted()[ROWS / 2]!;

  const recipients = Array.from({ length: ROWS }, (_, place) => `+5511987${100_000 + place}`);

  const sendToEach = (caller: TestCaller): Promise<string[]> =>
    Promise.all(recipients.map((recipient) => buildSend(store.database, caller, { recipient })));

  it.each(ROUNDS)('do not deadlock with guesses at the same sends (%i)', async () => {
    const ids = await sendToEach(await buildCaller(store.database, 'test'));
    const found = await deadlocksOf(
      (held) => held.sql.execute`select from sends where id = ${middleOf(ids)}::uuid for update`,
      (database, process) =>
        Promise.all(turned(ids, process).map((id) => guessCode(database, id, process === 0))),
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
  ])('do not deadlock with $what guesses at sends of the same recipients', async ({ isRight }) => {
    for (const _ of ROUNDS) {
      const caller = await buildCaller(store.database, 'live', { credits: 1_000 });
      const own = await Promise.all(Array.from({ length: PROCESSES }, () => sendToEach(caller)));
      // A right guess locks existing counts.
      await Promise.all(own[0]!.map((id) => guessCode(store.database, id, false)));
      const found = await deadlocksOf(
        (held) =>
          held.sql.execute`select from guess_budgets where account_id = ${caller.accountId}::uuid
          and recipient_key = ${recipientKeysOf(middleOf(recipients))[0]} for update`,
        (database, process) =>
          Promise.all(
            turned(own[process]!, process).map((id, turn) => guessCode(database, id, isRight(turn))),
          ),
      );
      expect(found).toBe(0);
    }
  });
});

describe('units', () => {
  /** Returns the balance of each account and bucket: the units granted, left, and held by its sends. */
  const BALANCES = `
    select a.id, b.bucket,
      case b.bucket when 'free_quota' then a.free_quota else a.credits end as "left",
      (select coalesce(sum(units), 0)::int from ledger_entries l
        where l.account_id = a.id and l.bucket = b.bucket and l.kind = 'granted') as given,
      (select count(*)::int from sends s
        where s.account_id = a.id and s.charged_from = b.bucket and s.status <> 'failed') as held,
      (select count(*)::int from sends s
        where s.account_id = a.id and s.charged_from = b.bucket and s.status = 'failed') as failed,
      (select count(*)::int from ledger_entries l
        where l.account_id = a.id and l.bucket = b.bucket and l.kind = 'reserved') as reserved,
      (select count(*)::int from ledger_entries l
        where l.account_id = a.id and l.bucket = b.bucket and l.kind = 'returned') as returned
    from accounts a, (values ('free_quota'), ('credit')) as b (bucket)`;

  interface Balance {
    id: string;
    bucket: string;
    left: number;
    given: number;
    held: number;
    failed: number;
    reserved: number;
    returned: number;
  }

  it('are neither created nor lost in concurrent creations, failures, verifications and grants', async () => {
    const callers: TestCaller[] = [];
    for (let n = 0; n < 3; n++) {
      const live = await buildCaller(store.database, 'live', {
        freeQuota: 15,
        credits: 10,
        ratePerMinute: 100_000,
      });
      callers.push(live, await buildCaller(store.database, 'test', { id: live.accountId }));
    }
    const made: { id: string; caller: TestCaller }[] = [];
    const any = <T>(some: readonly T[]): T | undefined => some[Math.floor(Math.random() * some.length)];

    const create = async (n: number): Promise<void> => {
      const caller = any(callers)!;
      // Every fourth creation uses one of a few keys.
      const wishes = n % 4 === 0 ? { idempotencyKey: `key-${n % 7}` } : {};
      const creation = await createSend(store.database, newSend(caller, wishes));
      if (creation.outcome === 'created') made.push({ id: creation.send.id, caller });
    };
    const fail = async (): Promise<void> => {
      const one = any(made);
      if (one === undefined || one.caller.mode === 'test') return;
      const reason = any<FailureReason>(['rejected_by_provider', 'attempts_exhausted'])!;
      await changeSend(store.database, one, (send, now) =>
        send.status === 'failed' ? { result: null } : { result: null, change: failure(reason, now) },
      );
    };
    const verify = async (): Promise<void> => {
      const one = any(made);
      if (one === undefined) return;
      const guess = any([true, false])!;
      await guessCode(store.database, one.id, guess);
    };
    const grant = async (): Promise<void> => {
      await grantCredits(store.database, TEST_ACTOR, any(callers)!.accountId, 1, 'storm');
    };

    let steps = 0;
    const storm = async (): Promise<void> => {
      while (steps < 800) {
        const n = steps++;
        await any([create, create, fail, fail, verify, n % 10 === 0 ? grant : verify])!(n);
      }
    };
    await Promise.all(Array.from({ length: 24 }, storm));

    const balances = await store.sql<Balance>(BALANCES);
    for (const balance of balances) {
      expect(balance).toMatchObject({
        given: balance.left + balance.held,
        reserved: balance.held + balance.failed,
        returned: balance.failed,
      });
      expect(balance.left).toBeGreaterThanOrEqual(0);
    }
    const sum = (field: 'held' | 'failed') => balances.reduce((total, balance) => total + balance[field], 0);
    expect(sum('held')).toBeGreaterThan(20);
    expect(sum('failed')).toBeGreaterThan(20);
  });
});
