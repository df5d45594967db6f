import { changeSettings } from '@onecode/store/accounts';
import { newId } from '@onecode/store/client';
import { listExhaustedRecipients } from '@onecode/store/reports';
import { createSend, resetGuessBudgets, type Creation } from '@onecode/store/sends';
import {
  buildCaller,
  buildSend,
  newSend,
  recipientKeysOf,
  TEST_ACTOR,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';
import { CODE, sendActions } from './sendActions.js';

const store = useTestDatabase();

describe('a recipient’s guess budget', () => {
  const WRONG = '999999';
  const TO = '+5511987654321';
  const OTHER = '+5511987654322';

  afterEach(() => changeSettings(store.database, TEST_ACTOR, { guessBudget: 100 }));

  const { verify, age } = sendActions(store);
  const send = (caller: TestCaller, recipient = TO): Promise<string> =>
    buildSend(store.database, caller, { code: CODE, recipient });
  const create = (caller: TestCaller, recipient = TO, idempotencyKey?: string) =>
    createSend(store.database, newSend(caller, { recipient, ...(idempotencyKey && { idempotencyKey }) }));

  /** Returns the counts of an account, by recipient. */
  async function counts(caller: TestCaller): Promise<Record<string, number>> {
    const rows = await store.sql<{ key: string; count: number }>(
      `select s.recipient as key, points as count from guess_budgets b cross join lateral (
         select recipient from sends where recipient_key = b.recipient_key limit 1
       ) s where account_id = $1 and points > 0`,
      [caller.accountId],
    );
    return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
  }

  /** Guesses this many wrong codes, five at each send. */
  async function guessWrong(caller: TestCaller, times: number, recipient = TO): Promise<void> {
    for (let left = times; left > 0; left -= 5) {
      const id = await send(caller, recipient);
      for (let n = 0; n < Math.min(5, left); n++) await verify(caller, id, WRONG);
    }
  }

  const credits = 10_000;

  it('applies only to its recipient and account', async () => {
    const caller = await buildCaller(store.database, 'live', { credits });
    const stranger = await buildCaller(store.database, 'live', { credits });
    await guessWrong(caller, 100);
    expect((await create(caller)).outcome).toBe('rate_limited');
    const fine = [await create(caller, OTHER), await create(stranger)];
    expect(fine.map(({ outcome }) => outcome)).toEqual(['created', 'created']);
  });

  it('is shared by all live applications of the account', async () => {
    const one = await buildCaller(store.database, 'live', { credits });
    const two = await buildCaller(store.database, 'live', { id: one.accountId });
    await guessWrong(one, 50);
    await guessWrong(two, 50);
    expect((await create(one)).outcome).toBe('rate_limited');
  });

  it('does not exist in test mode', async () => {
    const live = await buildCaller(store.database, 'live', { credits });
    const test = await buildCaller(store.database, 'test', { id: live.accountId });
    await guessWrong(test, 105);
    expect(await counts(test)).toEqual({});
    await guessWrong(live, 100);
    expect((await create(test)).outcome).toBe('created');
  });

  it('is used only by judged guesses, not by guesses at locked, verified or expired sends', async () => {
    const caller = await buildCaller(store.database, 'live', { credits });
    const ids = [await send(caller), await send(caller), await send(caller)] as const;
    for (let n = 0; n < 9; n++) await verify(caller, ids[0], WRONG);
    expect(await counts(caller)).toEqual({ [TO]: 5 });
    await verify(caller, ids[1], CODE);
    await verify(caller, ids[1], WRONG);
    await age(ids[2], 3600);
    await verify(caller, ids[2], WRONG);
    await verify(caller, ids[2], CODE);
    expect(await counts(caller)).toEqual({});
  });

  it('counts only the wrong guesses after a correct guess, even if guesses are concurrent', async () => {
    for (let round = 0; round < 5; round++) {
      const caller = await buildCaller(store.database, 'live', { credits });
      const ids = await Promise.all(Array.from({ length: 10 }, () => send(caller)));
      await guessWrong(caller, 40);
      const guesses = ids.flatMap((id, n) =>
        [WRONG, n === round ? CODE : WRONG, WRONG].map((code) => ({ id, code })),
      );
      const answers = await Promise.all(guesses.map(({ id, code }) => verify(caller, id, code)));
      expect(answers.filter(({ valid }) => valid)).toHaveLength(1);
      const judged = answers.filter(({ verification }) => verification === 'pending').length;
      const left = (await counts(caller))[TO] ?? 0;
      // The right guess has reset the forty earlier wrong guesses.
      expect(left).toBeLessThanOrEqual(judged);
      await guessWrong(caller, 1);
      expect(await counts(caller)).toEqual({ [TO]: left + 1 });
    }
  });

  it('can be reset, only for that recipient of that account', async () => {
    const caller = await buildCaller(store.database, 'live', { credits });
    const stranger = await buildCaller(store.database, 'live', { credits });
    await changeSettings(store.database, TEST_ACTOR, { guessBudget: 5 });
    for (const one of [caller, stranger]) await guessWrong(one, 5);
    await guessWrong(caller, 5, OTHER);
    const which = { recipientKeys: recipientKeysOf(TO) };
    expect(await resetGuessBudgets(store.database, TEST_ACTOR, caller.accountId, which)).toBe(5);
    expect(await resetGuessBudgets(store.database, TEST_ACTOR, caller.accountId, which)).toBe(0);
    expect(await counts(caller)).toEqual({ [OTHER]: 5 });
    expect(await counts(stranger)).toEqual({ [TO]: 5 });
    expect(await resetGuessBudgets(store.database, TEST_ACTOR, newId(), which)).toBeNull();
  });
});

describe('active codes', () => {
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

  /** Moves the wrong guesses at an account's recipients into the past. */
  const daysLater = (caller: TestCaller, days: number) =>
    store.sql(
      `update guess_budgets set last_wrong_at = last_wrong_at - make_interval(secs => $2::float8 * 86400) where account_id = $1`,
      [caller.accountId, days],
    );

  describe('the limit of guesses at a recipient', () => {
    it('is a hundred guesses, across applications and concurrent creations and guesses', async () => {
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
      'is lower for shorter codes: $open active codes of $length digits',
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

    it('allows another code after a code is verified or expires', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const ids = idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller))));
      expect(outcomes([await create(caller)])).toEqual(['active_codes']);
      await verify(caller, ids[0]!, CODES.six);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'active_codes']);
      await age(ids[1]!, 660);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'active_codes']);
    });

    it('counts only the remaining guesses of an active code, because its wrong guesses are already counted', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const [first] = idsOf(await Promise.all(Array.from({ length: 19 }, () => create(caller))));
      for (let n = 0; n < 3; n++) await verify(caller, first!, WRONG);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'active_codes']);
    });

    it('counts a code for some seconds after its expiry, for guesses that are still being written', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const [first] = idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller))));
      const endedSince = (seconds: number) =>
        store.sql(
          `update sends set created_at = now() - interval '10 minutes', expires_at = now() - make_interval(secs => $2)
           where id = $1`,
          [first, seconds],
        );
      await endedSince(5);
      expect(outcomes([await create(caller)])).toEqual(['active_codes']);
      await endedSince(16);
      expect(outcomes([await create(caller)])).toEqual(['created']);
    });

    it('returns the wait until enough codes have expired', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      const ids = idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller))));
      await age(ids[7]!, 420);
      const refused = await create(caller);
      expect(refused).toMatchObject({ outcome: 'rate_limited', cause: 'active_codes' });
      const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(120);
      expect(retryAfterSeconds).toBeLessThanOrEqual(180 + 15);
    });

    it('counts only active codes for that recipient of the account in live mode', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      await Promise.all(Array.from({ length: 20 }, () => create(caller)));
      const test = await buildCaller(store.database, 'test', { id: caller.accountId });
      const stranger = await buildCaller(store.database, 'live', unlimited);
      const inTest = await Promise.all(Array.from({ length: 40 }, () => create(test)));
      expect(count(inTest, 'created')).toBe(40);
      expect(outcomes([await create(caller, { recipient: '+5511987654322' })])).toEqual(['created']);
      const toTwo = await Promise.all(
        Array.from({ length: 40 }, (_, n) => create(stranger, n % 2 ? { recipient: '+5511987654322' } : {})),
      );
      expect(count(toTwo, 'created')).toBe(40);
    });

    it('is shared by both forms of a number', async () => {
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

  describe('an exhausted recipient', () => {
    async function exhausted(code: string = CODES.six): Promise<TestCaller> {
      const caller = await buildCaller(store.database, 'live', unlimited);
      await guessAll(
        caller,
        idsOf(await Promise.all(Array.from({ length: 20 }, () => create(caller, { code })))),
      );
      return caller;
    }

    it('gets one code of six digits per day, and a refusal contains the wait', async () => {
      const caller = await exhausted();
      const refused = await create(caller);
      expect(refused).toMatchObject({ outcome: 'rate_limited', cause: 'wrong_guesses' });
      const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
      expect(retryAfterSeconds).toBeGreaterThan(86_400 - 60);
      expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
      const [recipient] = await listExhaustedRecipients(store.database, caller.accountId);
      expect(Math.abs(recipient!.recoversAt.getTime() - Date.now() - 86_400_000)).toBeLessThan(60_000);
      await daysLater(caller, 1);
      expect(outcomes([await create(caller), await create(caller)])).toEqual(['created', 'active_codes']);
      await daysLater(caller, 400);
      const again = await Promise.all(Array.from({ length: 30 }, () => create(caller)));
      expect(count(again, 'created')).toBe(19);
    });

    it('gets exactly five codes of six digits after five days', async () => {
      const caller = await exhausted();
      await daysLater(caller, 5);
      const creations = [];
      for (let n = 0; n < 7; n++) creations.push(await create(caller));
      expect(outcomes(creations)).toEqual([
        ...Array<string>(5).fill('created'),
        'active_codes',
        'active_codes',
      ]);
    });

    it('waits a hundred times as long after codes of four digits', async () => {
      const caller = await exhausted(CODES.four);
      const refused = await create(caller, { code: CODES.four });
      expect(Math.round((refused as { retryAfterSeconds: number }).retryAfterSeconds / 86_400)).toBe(100);
      await daysLater(caller, 100);
      expect(outcomes([await create(caller, { code: CODES.four })])).toEqual(['created']);
    });

    it('is not the result of one wrong guess at a short code', async () => {
      const caller = await buildCaller(store.database, 'live', unlimited);
      for (const code of [CODES.four, CODES.six])
        await verify(caller, await buildSend(store.database, caller, { recipient: TO, code }), WRONG);
      expect(outcomes([await create(caller, { code: CODES.four }), await create(caller)])).toEqual([
        'created',
        'created',
      ]);
      expect(await listExhaustedRecipients(store.database, caller.accountId)).toEqual([]);
    });
  });
});
