import { codeMatches, judge, type Judgement } from '@onecode/domain';
import {
  changeGuessedSend,
  changeSetting,
  closeDatabase,
  countUncountedGuess,
  createSend,
  findAbuseControls,
  listExhaustedRecipients,
  newId,
  openDatabase,
  resetGuessCount,
  takeUncountedGuesses,
  type Creation,
  type Database,
} from '@onecode/store';
import {
  buildCaller,
  buildSend,
  newSend,
  TEST_ACTOR,
  TEST_PEPPER,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';
import { CODE, sendActions } from './sendActions.js';

const store = useTestDatabase();

describe('the guess budget of a recipient', () => {
  const WRONG = '999999';
  const TO = '+5511987654321';
  const OTHER = '+5511987654322';

  afterEach(() => changeSetting(store.database, TEST_ACTOR, 'guessBudget', 100));

  const { verify, age } = sendActions(store);
  const send = (caller: TestCaller, recipient = TO): Promise<string> =>
    buildSend(store.database, caller, { code: CODE, recipient });
  const create = (caller: TestCaller, recipient = TO, idempotencyKey?: string) =>
    createSend(store.database, newSend(caller, { recipient, ...(idempotencyKey && { idempotencyKey }) }));

  /** The counts of an account, by mode and recipient. */
  async function counts(caller: TestCaller): Promise<Record<string, number>> {
    const rows = await store.sql<{ key: string; count: number }>(
      `select mode || ' ' || recipient as key, wrong_in_a_row as count from guess_budgets where account_id = $1`,
      [caller.accountId],
    );
    return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
  }

  /** Wrong codes for as many sends as it takes, five for each. */
  async function guessWrong(caller: TestCaller, times: number, recipient = TO): Promise<void> {
    for (let left = times; left > 0; left -= 5) {
      const id = await send(caller, recipient);
      for (let n = 0; n < Math.min(5, left); n++) await verify(caller, id, WRONG);
    }
  }

  it('holds for nobody else: not for other recipients, other accounts, nor the other mode', async () => {
    const test = await buildCaller(store.database, 'test');
    const live = await buildCaller(store.database, 'live', { id: test.accountId });
    const stranger = await buildCaller(store.database, 'test');
    await guessWrong(test, 100);
    expect((await create(test)).outcome).toBe('rate_limited');
    const fine = [await create(test, OTHER), await create(stranger), await create(live)];
    expect(fine.map(({ outcome }) => outcome)).toEqual(['created', 'created', 'created']);
  });

  it('is counted over all applications of the account in that mode', async () => {
    const one = await buildCaller(store.database, 'test');
    const two = await buildCaller(store.database, 'test', { id: one.accountId });
    await guessWrong(one, 50);
    await guessWrong(two, 50);
    expect((await create(one)).outcome).toBe('rate_limited');
  });

  it('is spent by judged guesses only: not on locked, verified or expired sends', async () => {
    const caller = await buildCaller(store.database, 'test');
    const ids = [await send(caller), await send(caller), await send(caller)] as const;
    for (let n = 0; n < 9; n++) await verify(caller, ids[0], WRONG);
    expect(await counts(caller)).toEqual({ [`test ${TO}`]: 5 });
    await verify(caller, ids[1], CODE);
    await verify(caller, ids[1], WRONG);
    await age(ids[2], 3600);
    await verify(caller, ids[2], WRONG);
    await verify(caller, ids[2], CODE);
    expect(await counts(caller)).toEqual({});
  });

  it('stands at what was guessed since the success, when right and wrong codes come at once', async () => {
    for (let round = 0; round < 5; round++) {
      const caller = await buildCaller(store.database, 'test');
      const ids = await Promise.all(Array.from({ length: 10 }, () => send(caller)));
      await guessWrong(caller, 40);
      const guesses = ids.flatMap((id, n) =>
        [WRONG, n === round ? CODE : WRONG, WRONG].map((code) => ({ id, code })),
      );
      const answers = await Promise.all(guesses.map(({ id, code }) => verify(caller, id, code)));
      expect(answers.filter(({ valid }) => valid)).toHaveLength(1);
      const judged = answers.filter(({ verification }) => verification === 'pending').length;
      const left = (await counts(caller))[`test ${TO}`] ?? 0;
      // The forty from before are gone: only thirty were to come.
      expect(left).toBeLessThanOrEqual(judged);
      await guessWrong(caller, 1);
      expect(await counts(caller)).toEqual({ [`test ${TO}`]: left + 1 });
    }
  });

  it('is reset by hand, in both modes, for that recipient of that account alone', async () => {
    const test = await buildCaller(store.database, 'test');
    const live = await buildCaller(store.database, 'live', { id: test.accountId });
    const stranger = await buildCaller(store.database, 'test');
    await changeSetting(store.database, TEST_ACTOR, 'guessBudget', 5);
    for (const caller of [test, live, stranger]) await guessWrong(caller, 5);
    await guessWrong(test, 5, OTHER);
    const refused = async () => (await findAbuseControls(store.database, test.accountId))!.refusedRecipients;
    expect(await refused()).toBe(2);
    expect(await resetGuessCount(store.database, TEST_ACTOR, test.accountId, TO)).toBe(10);
    expect(await resetGuessCount(store.database, TEST_ACTOR, test.accountId, TO)).toBe(0);
    expect(await refused()).toBe(1);
    expect(await counts(test)).toEqual({ [`test ${OTHER}`]: 5 });
    expect(await counts(stranger)).toEqual({ [`test ${TO}`]: 5 });
    expect(await resetGuessCount(store.database, TEST_ACTOR, newId(), TO)).toBeNull();
  });
});

describe('open codes', () => {
  const WRONG = '9999999999';
  const TO = '+5511987654321';
  const CODES = { six: '042913', five: '04291', four: '0429' } as const;

  const { verify, age } = sendActions(store);
  const unlimited = { freeQuota: 10_000, ratePerMinute: 100_000 };
  const create = (caller: TestCaller, wishes: SendOptions = {}): Promise<Creation> =>
    createSend(store.database, newSend(caller, { recipient: TO, ...wishes }));
  const outcomes = (creations: readonly Creation[]) =>
    creations.map((one) => (one.outcome === 'rate_limited' ? one.cause : one.outcome));
  const count = (creations: readonly Creation[], wanted: string): number =>
    outcomes(creations).filter((one) => one === wanted).length;
  const idsOf = (creations: readonly Creation[]): string[] =>
    creations.flatMap((one) => ('send' in one ? [one.send.id] : []));

  /** Guesses wrong at every send until it is locked. @returns how many guesses were judged */
  async function guessAll(caller: TestCaller, ids: readonly string[]): Promise<number> {
    let judged = 0;
    for (let n = 0; n < 6; n++) {
      const answers = await Promise.all(ids.map((id) => verify(caller, id, WRONG)));
      judged += n < 5 ? answers.length : 0;
      if (n === 5)
        expect(new Set(answers.map(({ verification }) => verification))).toEqual(new Set(['locked']));
    }
    return judged;
  }

  /** Lets time pass for the wrong guesses at an account's recipients. */
  const daysLater = (caller: TestCaller, days: number) =>
    store.sql(
      `update guess_budgets set last_wrong_at = last_wrong_at - make_interval(secs => $2::float8 * 86400) where account_id = $1`,
      [caller.accountId, days],
    );

  describe('what may be guessed at a person', () => {
    it('is a hundred codes, while sends are made and guessed at side by side, by several applications', async () => {
      const one = await buildCaller(store.database, 'live', unlimited);
      const callers = [one, await buildCaller(store.database, 'live', { id: one.accountId })];
      let judged = 0;
      const attack = async (by: TestCaller): Promise<void> => {
        for (let round = 0; round < 15; round++) {
          const creation = await create(by);
          if (creation.outcome !== 'created') continue;
          const answers = await Promise.all([1, 2, 3, 4, 5].map(() => verify(by, creation.send.id, WRONG)));
          judged += answers.length;
        }
      };
      await Promise.all([0, 1, 2, 3, 4, 5].map((n) => attack(callers[n % 2]!)));
      expect(judged).toBe(100);
    });

    it.each([
      { length: 'five', open: 3, judged: 15 },
      { length: 'four', open: 3, judged: 15 },
    ] as const)(
      'is less for a shorter code: $open codes of $length digits at a time',
      async ({ length, open, judged }) => {
        const caller = await buildCaller(store.database, 'live', unlimited);
        const creations = await Promise.all(
          Array.from({ length: 30 }, () => create(caller, { code: CODES[length] })),
        );
        expect(count(creations, 'created')).toBe(open);
        expect(await guessAll(caller, idsOf(creations))).toBe(judged);
        expect(outcomes([await create(caller, { code: CODES[length] })])).toEqual(['wrong_guesses']);
      },
    );

    it('allows another code as soon as one is verified, has expired, or is locked with guesses to spare', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const ids = idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller))));
      expect(outcomes([await create(caller)])).toEqual(['open_codes']);
      await verify(caller, ids[0]!, CODES.six);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'open_codes']);
      await age(ids[1]!, 660);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'open_codes']);
    });

    it('counts a code for some seconds after its end, for a guess that was judged before it and is being written', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const [first] = idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller))));
      const endedSince = (seconds: number) =>
        store.sql(
          `update sends set created_at = now() - interval '10 minutes', expires_at = now() - make_interval(secs => $2)
           where id = $1`,
          [first, seconds],
        );
      await endedSince(5);
      expect(outcomes([await create(caller)])).toEqual(['open_codes']);
      await endedSince(16);
      expect(outcomes([await create(caller)])).toEqual(['created']);
    });

    it('says when another code is allowed: when those above the limit have expired', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const ids = idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller))));
      await age(ids[7]!, 420);
      const refused = await create(caller);
      expect(refused).toMatchObject({ outcome: 'rate_limited', cause: 'open_codes' });
      const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(120);
      expect(retryAfterSeconds).toBeLessThanOrEqual(180 + 15);
    });

    it('counts what is open in live mode only, and nobody else’s', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      await Promise.all(Array.from({ length: 20 }, () => create(caller)));
      const test = await buildCaller(store.database, 'test', { id: caller.accountId });
      const stranger = await buildCaller(store.database, 'live', unlimited);
      const inTest = await Promise.all(Array.from({ length: 40 }, () => create(test)));
      expect(count(inTest, 'created')).toBe(40);
      expect(
        outcomes([await create(stranger), await create(caller, { recipient: '+5511987654322' })]),
      ).toEqual(['created', 'created']);
    });

    it('is shared by two forms of one number', async () => {
      const [one, other] = ['+5511987654321', '+551187654321'];
      const caller = await buildCaller(store.database, 'live', unlimited);
      const creations = await Promise.all(
        Array.from({ length: 30 }, (_, n) => create(caller, { recipient: n % 2 ? one : other })),
      );
      expect(count(creations, 'created')).toBe(20);
      expect(await guessAll(caller, idsOf(creations))).toBe(100);
      for (const recipient of [one, other])
        expect(outcomes([await create(caller, { recipient })])).toEqual(['wrong_guesses']);
    });
  });

  describe('a recipient whose budget is used up', () => {
    async function exhausted(code: string = CODES.six): Promise<TestCaller> {
      const caller = await buildCaller(store.database, 'live', unlimited);
      await guessAll(
        caller,
        idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller, { code })))),
      );
      return caller;
    }

    it('gets one code of six digits a day, and says how long to wait for it', async () => {
      const caller = await exhausted();
      const refused = await create(caller);
      expect(refused).toMatchObject({ outcome: 'rate_limited', cause: 'wrong_guesses' });
      const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(86_400 - 60);
      expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
      await daysLater(caller, 1);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'open_codes']);
      await daysLater(caller, 400);
      const again = await Promise.all(Array.from({ length: 30 }, () => create(caller)));
      expect(count(again, 'created')).toBe(19);
    });

    it('waits a hundred times as long after codes of four digits', async () => {
      const caller = await exhausted(CODES.four);
      const refused = await create(caller, { code: CODES.four });
      expect(Math.round((refused as { retryAfterSeconds: number }).retryAfterSeconds / 86_400)).toBe(100);
      await daysLater(caller, 100);
      expect(outcomes([await create(caller, { code: CODES.four })])).toEqual(['created']);
    });

    it('is not made of one mistyped short code: the next codes, short and long, are made at once', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const id = await buildSend(store.database, caller, { recipient: TO, code: CODES.four });
      await verify(caller, id, WRONG);
      expect(outcomes([await create(caller, { code: CODES.four }), await create(caller)])).toEqual([
        'created',
        'created',
      ]);
      expect(
        (await listExhaustedRecipients(store.database, caller.accountId, { limit: 10 })).recipients,
      ).toEqual([]);
    });
  });
});

describe('uncounted guesses', () => {
  const WRONG = '042914';
  const LOCKED = { valid: false, verification: 'locked', attemptsLeft: 0 };
  const GUESSES_OF_A_CROWD = 60;

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
});
