import { buildCaller, buildSend, useTestDatabase } from '@onecode/testing';
import { CODE, sendActions } from './sendActions.js';

const store = useTestDatabase();

const { read, version, verify } = sendActions(store);

describe('verification', () => {
  it('gives exactly one of 80 right guesses at once a valid answer', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const answers = await Promise.all(Array.from({ length: 80 }, () => verify(caller, id, CODE)));
    expect(answers.filter((answer) => answer.valid)).toHaveLength(1);
    for (const { verification, attemptsLeft } of answers)
      expect({ verification, attemptsLeft }).toEqual({ verification: 'verified', attemptsLeft: 0 });
    expect(await read(caller, id)).toMatchObject({ verification: 'verified', wrongGuesses: 0 });
    expect((await read(caller, id)).verifiedAt).not.toBeNull();
  });

  it('judges exactly five of 200 wrong guesses at once', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    const answers = await Promise.all(Array.from({ length: 200 }, () => verify(caller, id, '042914')));
    const pending = answers.filter((answer) => answer.verification === 'pending');
    expect(pending.map((answer) => answer.attemptsLeft).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    const locked = answers.filter((answer) => answer.verification === 'locked');
    expect(locked).toHaveLength(196);
    expect(locked.every((answer) => answer.attemptsLeft === 0)).toBe(true);
    expect(answers.some((answer) => answer.valid)).toBe(false);
    expect(await read(caller, id)).toMatchObject({
      verification: 'locked',
      wrongGuesses: 5,
      verifiedAt: null,
      lockedAt: expect.any(Date),
    });
    expect(await verify(caller, id, CODE)).toEqual({ valid: false, verification: 'locked', attemptsLeft: 0 });
  });

  it('lets right and wrong guesses at once end in one way only', async () => {
    const caller = await buildCaller(store.database, 'test');
    for (let round = 0; round < 5; round++) {
      const id = await buildSend(store.database, caller, { code: CODE });
      const guesses = Array.from({ length: 60 }, (_, n) => (n % 5 === round ? CODE : '000001'));
      const answers = await Promise.all(guesses.map((guess) => verify(caller, id, guess)));
      const { verification, wrongGuesses } = await read(caller, id);
      const wrongJudged = answers.filter((answer) => answer.verification === 'pending').length;
      expect(answers.filter((answer) => answer.valid)).toHaveLength(verification === 'verified' ? 1 : 0);
      if (verification === 'verified') expect(wrongGuesses).toBe(wrongJudged);
      else expect([verification, wrongGuesses, wrongJudged]).toEqual(['locked', 5, 4]);
      expect(answers.filter((answer) => answer.verification === 'locked').length > 0).toBe(
        verification === 'locked',
      );
    }
  });

  it('is judged by the database’s clock: one moment before and at the deadline', async () => {
    const caller = await buildCaller(store.database, 'test');
    const id = await buildSend(store.database, caller, { code: CODE });
    await store.sql(
      `update sends set created_at = created_at - interval '601 seconds', expires_at = expires_at - interval '601 seconds'
       where id = $1`,
      [id],
    );
    expect(await verify(caller, id, CODE)).toEqual({
      valid: false,
      verification: 'expired',
      attemptsLeft: 0,
    });
    expect(await read(caller, id)).toMatchObject({ verification: 'pending', wrongGuesses: 0 });
    expect(await version(id)).toBe(0);
  });
});
