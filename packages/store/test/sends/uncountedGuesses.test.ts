import { codeMatches, judge, type Judgement } from '@onecode/domain';
import {
  changeGuessedSend,
  closeDatabase,
  countUncountedGuess,
  openDatabase,
  takeUncountedGuesses,
  type Database,
} from '@onecode/store';
import { buildCaller, buildSend, TEST_PEPPER, useTestDatabase, type TestCaller } from '@onecode/testing';
import { CODE, sendActions } from './sendActions.js';

const WRONG = '042914';
const LOCKED = { valid: false, verification: 'locked', attemptsLeft: 0 };
const GUESSES_OF_A_CROWD = 120;

const store = useTestDatabase();
const { read, verify } = sendActions(store);

/** Failures of the statement that writes a judged guess, each as what makes it and what ends it. */
const FAILURES: Record<string, [begin: string, end: string]> = {
  'a constraint that refuses the lock': [
    `alter table sends add constraint of_a_test check (wrong_guesses < 5) not valid`,
    'alter table sends drop constraint if exists of_a_test',
  ],
  'a trigger that raises at every wrong guess': [
    `create trigger of_a_test before update on sends for each row when (new.wrong_guesses > old.wrong_guesses) execute function raises()`,
    'drop trigger if exists of_a_test on sends',
  ],
  'a budget that refuses to be written': [
    `create trigger of_a_test before insert or update on guess_budgets for each row execute function raises()`,
    'drop trigger if exists of_a_test on guess_budgets',
  ],
  'a failure at the commit': [
    `create constraint trigger of_a_test after update on sends deferrable initially deferred for each row
     when (new.wrong_guesses > old.wrong_guesses) execute function raises()`,
    'drop trigger if exists of_a_test on sends',
  ],
};

beforeAll(async () => {
  await store.sql(
    `create function raises() returns trigger language plpgsql as $$ begin raise exception 'of a test'; end $$`,
  );
});

/** Guesses one after the other; null for each that failed. */
async function guessInARow(caller: TestCaller, id: string, times: number): Promise<(Judgement | null)[]> {
  const answers: (Judgement | null)[] = [];
  for (let n = 0; n < times; n++) answers.push(await verify(caller, id, WRONG).catch(() => null));
  return answers;
}

/** Does what a worker does every second. */
async function countAll(): Promise<void> {
  await store.sql("update uncounted_guesses set due_at = now() - interval '1 second'");
  for (const guess of await takeUncountedGuesses(store.database, 1000))
    await countUncountedGuess(store.database, guess);
}

const recorded = async (): Promise<number> =>
  (await store.sql<{ n: number }>('select count(*)::integer as n from uncounted_guesses'))[0]!.n;
const budgetOf = async ({ accountId }: TestCaller): Promise<number[]> =>
  (
    await store.sql<{ wrong: number }>(
      'select wrong_in_a_row as wrong from guess_budgets where account_id = $1',
      [accountId],
    )
  ).map(({ wrong }) => wrong);

describe.each(Object.entries(FAILURES))('a guess whose writing meets %s', (_, [begin, end]) => {
  let caller: TestCaller;
  let id: string;
  beforeEach(async () => {
    caller = await buildCaller(store.database, 'test');
    id = await buildSend(store.database, caller, { code: CODE });
    await store.sql(begin);
  });
  afterEach(async () => {
    await store.sql(end);
    await store.sql('truncate uncounted_guesses');
  });

  it('counts: after twelve of them the right code is not valid, nor when the failure is over', async () => {
    const answers = await guessInARow(caller, id, 12);
    expect(answers.some((answer) => answer?.valid)).toBe(false);
    expect(await verify(caller, id, CODE)).toEqual(LOCKED);
    await store.sql(end);
    expect(await verify(caller, id, CODE)).toEqual(LOCKED);
  });

  it('counts among many at once: after five no further one is judged', async () => {
    let compared = 0;
    const answers = await Promise.allSettled(
      Array.from({ length: GUESSES_OF_A_CROWD }, () =>
        changeGuessedSend(store.database, { id, accountId: caller.accountId }, (send, now, uncounted) =>
          judge(send, now, () => (compared++, false), uncounted),
        ),
      ),
    );
    expect(answers).toHaveLength(GUESSES_OF_A_CROWD);
    expect(compared).toBeLessThanOrEqual(5);
    await guessInARow(caller, id, 5);
    expect(await verify(caller, id, CODE)).toEqual(LOCKED);
  });

  it('is written to its send and to the recipient’s budget once that can be', async () => {
    await guessInARow(caller, id, 12);
    await store.sql(end);
    await countAll();
    expect(await recorded()).toBe(0);
    expect(await read(caller, id)).toMatchObject({
      verification: 'locked',
      wrongGuesses: 5,
      lockedAt: expect.any(Date),
    });
    expect(await budgetOf(caller)).toEqual([5]);
    expect(await verify(caller, id, CODE)).toEqual(LOCKED);
  });
});

describe('guesses that could not be written', () => {
  let others: Database[];
  beforeAll(() => {
    others = [1, 2].map(() => openDatabase(store.url, { connectionsMax: 3 }));
  });
  afterAll(() => Promise.all(others.map(closeDatabase)));
  beforeEach(() => store.sql('truncate uncounted_guesses'));

  const guessAt = (database: Database, caller: TestCaller, id: string, code: string) =>
    changeGuessedSend(database, { id, accountId: caller.accountId }, (send, now, uncounted) =>
      judge(send, now, () => codeMatches(TEST_PEPPER, send.id, send.codeHash, code), uncounted),
    );

  it('count together with those that could be, in every process', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const [begin, end] = FAILURES['a trigger that raises at every wrong guess']!;
    await verify(caller, id, WRONG);
    await store.sql(begin);
    await guessInARow(caller, id, 2);
    await store.sql(end);
    expect(await guessAt(others[0]!, caller, id, WRONG)).toMatchObject({ attemptsLeft: 1 });
    expect(await guessAt(others[1]!, caller, id, WRONG)).toEqual(LOCKED);
    for (const database of [store.database, ...others])
      expect(await guessAt(database, caller, id, CODE)).toEqual(LOCKED);
    await countAll();
    expect(await read(caller, id)).toMatchObject({ verification: 'locked', wrongGuesses: 5 });
  });

  it('leave the right code valid while fewer than five were judged, and are forgotten with it', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const [begin, end] = FAILURES['a trigger that raises at every wrong guess']!;
    await store.sql(begin);
    await guessInARow(caller, id, 4);
    expect(await verify(caller, id, CODE)).toEqual({
      valid: true,
      verification: 'verified',
      attemptsLeft: 0,
    });
    await store.sql(end);
    await countAll();
    expect(await recorded()).toBe(0);
    expect(await read(caller, id)).toMatchObject({ verification: 'verified', wrongGuesses: 0 });
  });

  it('count after a time-out, behind somebody who holds the send', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const hasty = openDatabase(store.url, {
      connectionsMax: 3,
      timeouts: { connectionMs: 3_000, statementMs: 300 },
    });
    await store.database.transaction(
      async ({ sql }) => {
        await sql.query`select from sends where id = ${id}::uuid for update`;
        for (let n = 0; n < 5; n++)
          await expect(guessAt(hasty, caller, id, WRONG)).rejects.toThrow(/timeout|canceling/i);
        // Judged no more, and so it waits for nobody.
        expect(await guessAt(hasty, caller, id, CODE)).toEqual(LOCKED);
      },
      { timeout: 30_000 },
    );
    await closeDatabase(hasty);
    expect(await verify(caller, id, CODE)).toEqual(LOCKED);
  });

  it('count once where only the answer of their writing was lost', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    await verify(caller, id, WRONG);
    // What the process records that hears nothing of its commit.
    await store.sql(
      'insert into uncounted_guesses (send_id, judged_at) select id, wrong_guess_times[1] from sends where id = $1',
      [id],
    );
    expect(await verify(caller, id, WRONG)).toMatchObject({ attemptsLeft: 3 });
    await countAll();
    expect(await recorded()).toBe(0);
    expect(await read(caller, id)).toMatchObject({ verification: 'pending', wrongGuesses: 2 });
    expect(await budgetOf(caller)).toEqual([2]);
  });

  it('stop all guesses of the process at their send where they cannot even be recorded', async () => {
    const caller = await buildCaller(store.database, 'test');
    const [id, other] = [
      await buildSend(store.database, caller, { code: CODE }),
      await buildSend(store.database, caller, { code: CODE }),
    ];
    const [begin, end] = FAILURES['a constraint that refuses the lock']!;
    await guessInARow(caller, id, 4);
    await store.sql(begin);
    await store.sql('alter table uncounted_guesses rename to out_of_reach');
    await store.sql(
      'create view uncounted_guesses as select * from out_of_reach where false union all select * from out_of_reach where false',
    );
    await expect(verify(caller, id, WRONG)).rejects.toThrow(/wrong_guesses|of_a_test/);
    for (let n = 0; n < 3; n++) await expect(verify(caller, id, CODE)).rejects.toThrow(/uncounted_guesses/);
    expect(await read(caller, id)).toMatchObject({ verification: 'pending', verifiedAt: null });
    expect(await verify(caller, other, CODE)).toMatchObject({ valid: true });

    await store.sql('drop view uncounted_guesses');
    await store.sql('alter table out_of_reach rename to uncounted_guesses');
    await store.sql(end);
    expect(await verify(caller, id, CODE)).toEqual(LOCKED);
  });
});
