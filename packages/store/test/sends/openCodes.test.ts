import { createSend, listExhaustedRecipients, type Creation } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  newSend,
  useTestDatabase,
  type SendOptions,
  type TestCaller,
} from '@onecode/testing';
import { sendActions } from './sendActions.js';

const WRONG = '9999999999';
const TO = '+5511987654321';
const CODES = { six: '042913', five: '04291', four: '0429' } as const;

const store = useTestDatabase();
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
    expect(outcomes([await create(stranger), await create(caller, { recipient: '+5511987654322' })])).toEqual(
      ['created', 'created'],
    );
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
