import { changeSetting, createSend, findAbuseControls, resetGuessCount, newId } from '@onecode/store';
import {
  buildCaller,
  buildSend,
  newSend,
  TEST_ACTOR,
  useTestDatabase,
  type TestCaller,
} from '@onecode/testing';
import { CODE, sendActions } from './sendActions.js';

const WRONG = '999999';
const TO = '+5511987654321';
const OTHER = '+5511987654322';

const store = useTestDatabase();
afterEach(() => changeSetting(store.database, TEST_ACTOR, 'guessBudget', 100));

const { verify, age } = sendActions(store);
const send = (caller: TestCaller, recipient = TO): Promise<string> =>
  buildSend(store.database, caller, { code: CODE, recipient });
const create = (caller: TestCaller, recipient = TO, idempotencyKey?: string) =>
  createSend(store.database, newSend(caller, { recipient, ...(idempotencyKey && { idempotencyKey }) }));

/** The counts of an account, by mode and recipient. */
async function counts(caller: TestCaller): Promise<Record<string, number>> {
  const rows = await store.sql<{ key: string; count: number }>(
    `select mode || ' ' || recipient as key, points as count from guess_budgets where account_id = $1 and points > 0`,
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

describe('the guess budget of a recipient', () => {
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
