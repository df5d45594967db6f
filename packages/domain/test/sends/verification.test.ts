import { DELIVERY_STATES, guessCost, judge, verificationAt, type Send } from '@onecode/domain';
import fc from 'fast-check';
import { at, CREATED_AT, LIFE_SECONDS, liveSend, sentSend } from './sendFixtures.js';

const NOW = at(30);
const right = () => true;
const wrong = () => false;
/** A send after this number of wrong guesses. */
const guessed = (send: Send, wrongGuesses = 0) => ({ ...send, wrongGuesses });
const never = () => {
  throw new Error('a guess that does not count was compared');
};

describe('verificationAt', () => {
  it('returns expired starting at the exact deadline', () => {
    const { expiresAt } = liveSend();
    const around = [-1, 0, 1].map((ms) => new Date(expiresAt.getTime() + ms));
    expect(around.map((now) => verificationAt(liveSend(), now))).toEqual(['pending', 'expired', 'expired']);
  });
});

describe('judge', () => {
  it('counts wrong guesses, of which the fifth locks the code', () => {
    const results = [0, 1, 2, 3, 4].map((earlier) => judge(guessed(liveSend(), earlier), NOW, wrong));
    expect(results).toEqual([
      ...[4, 3, 2, 1].map((attemptsLeft) => ({
        result: { valid: false, verification: 'pending', attemptsLeft },
        isCounted: true,
      })),
      { result: { valid: false, verification: 'locked', attemptsLeft: 0 }, isCounted: true },
    ]);
  });

  it.each<[string, Partial<Send>, Date]>([
    ['expired', {}, at(LIFE_SECONDS)],
    ['verified', { verification: 'verified', verifiedAt: at(20) }, at(LIFE_SECONDS)],
    ['locked', { verification: 'locked' }, at(LIFE_SECONDS)],
  ])(
    'does not compare a guess at a code that is %s, and returns 0 attempts left',
    (verification, fields, now) => {
      const decision = judge(guessed(liveSend(fields)), now, never);
      expect(decision).toEqual({ result: { valid: false, verification, attemptsLeft: 0 }, isCounted: false });
    },
  );

  it.each(DELIVERY_STATES)('returns the same result while delivery is %s', (status) => {
    const send = guessed(sentSend({ status, encryptedCode: null }));
    expect(judge(send, NOW, right).result.valid).toBe(true);
    expect(judge(send, NOW, wrong).result).toMatchObject({ verification: 'pending', attemptsLeft: 4 });
  });
});

it.each([
  ['1234', 100],
  ['00000', 10],
  ['123456', 1],
  ['1234567890', 1],
])('guessCost(%s) returns %d', (code, cost) => {
  expect(guessCost(code)).toBe(cost);
});

describe('the verification model', () => {
  /** A model with only the rules of the specification. */
  interface Model {
    second: number;
    wrong: number;
    used: boolean;
    valids: number;
    judged: number;
  }
  interface Real {
    send: ReturnType<typeof guessed>;
  }

  const guess = (isRight: boolean): fc.Command<Model, Real> => ({
    check: () => true,
    run(model, real) {
      let compared = false;
      const decision = judge(real.send, at(model.second), () => {
        compared = true;
        return isRight;
      });
      const { result, isCounted } = decision;
      if (isCounted) real.send.verification = result.verification as Send['verification'];
      if (isCounted && !result.valid) real.send.wrongGuesses += 1;

      const over = model.used || model.wrong === 5 || model.second >= LIFE_SECONDS;
      if (!over) {
        model.judged += 1;
        if (isRight) model.used = true;
        else model.wrong += 1;
      }
      const valid = !over && isRight;
      if (valid) model.valids += 1;
      const verification = model.used
        ? 'verified'
        : model.wrong === 5
          ? 'locked'
          : model.second >= LIFE_SECONDS
            ? 'expired'
            : 'pending';
      expect(compared).toBe(!over);
      expect(decision.result).toEqual({
        valid,
        verification,
        attemptsLeft: verification === 'pending' ? 5 - model.wrong : 0,
      });
      expect(model.judged).toBeLessThanOrEqual(5);
      expect(model.valids).toBeLessThanOrEqual(1);
    },
    toString: () => (isRight ? 'right guess' : 'wrong guess'),
  });

  const pass = (seconds: number): fc.Command<Model, Real> => ({
    check: () => true,
    run(model) {
      model.second += seconds;
    },
    toString: () => `${seconds} s pass`,
  });

  it('allows five judged guesses and one valid result in any order of guesses and waits', () => {
    const commands = fc.commands(
      [
        fc.constant(guess(true)),
        fc.constant(guess(false)),
        fc.constant(guess(false)),
        fc.integer({ min: 0, max: 250 }).map(pass),
      ],
      { maxCommands: 20, size: 'max' },
    );
    fc.assert(
      fc.property(commands, (run) => {
        fc.modelRun(
          () => ({
            model: { second: 0, wrong: 0, used: false, valids: 0, judged: 0 },
            real: { send: guessed(liveSend({ createdAt: CREATED_AT })) },
          }),
          run,
        );
      }),
      { numRuns: process.env['ALL_TESTS'] === '1' ? 500 : 150 },
    );
  });
});
