import { judge, type Send } from '@onecode/domain';
import fc from 'fast-check';
import { at, CREATED_AT, LIFE_SECONDS, liveSend, written } from './sendFixtures.js';

/** The rules of the specification alone. */
interface Model {
  second: number;
  wrong: number;
  used: boolean;
  valids: number;
  judged: number;
}
interface Real {
  send: Send;
}

const guess = (isRight: boolean): fc.Command<Model, Real> => ({
  check: () => true,
  run(model, real) {
    let compared = false;
    const decision = judge(real.send, at(model.second), () => {
      compared = true;
      return isRight;
    });
    real.send = written(real.send, decision);

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
    expect(real.send.verifiedAt === null).toBe(!model.used);
    expect(real.send.lockedAt === null).toBe(model.wrong < 5);
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

it('any order of guesses and waits keeps to five judged guesses and one valid answer', () => {
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
          real: { send: liveSend({ createdAt: CREATED_AT }) },
        }),
        run,
      );
    }),
    { numRuns: 1000 },
  );
});
