import { DELIVERY_STATES, retryDelayMs, type DeliveryState } from '@onecode/domain';
import fc from 'fast-check';
import { anyReceipt, lifeMs, step } from './deliveryCommands.js';
import {
  abandon,
  begin,
  documentedTransitions,
  must,
  runAnswer,
  runClaim,
  type Transition,
} from './deliveryModel.js';
import { POLICY, retryable, UNKNOWN } from './sendFixtures.js';

const isLong = process.env['ALL_TESTS'] === '1';

describe('the delivery model', () => {
  it('keeps its invariants in any order of claims, responses, waits and receipts, and ends', () => {
    fc.assert(
      fc.property(
        lifeMs,
        fc.commands([...step, anyReceipt], { maxCommands: 40, size: 'max' }),
        (life, commands) => {
          const start = begin(life);
          fc.modelRun(() => start, commands);
          abandon(start.model, start.real);
        },
      ),
      { numRuns: isLong ? 1500 : 500 },
    );
  });

  it('keeps its invariants without receipts, and ends', () => {
    fc.assert(
      fc.property(lifeMs, fc.commands(step, { maxCommands: 60, size: 'max' }), (life, commands) => {
        const start = begin(life);
        fc.modelRun(() => start, commands);
        abandon(start.model, start.real);
      }),
      { numRuns: isLong ? 1500 : 500 },
    );
  });

  it('ends in attempts_exhausted after exactly five retryable attempts', () => {
    const retries = fc.array(fc.constantFrom(null, 0), { minLength: 5, maxLength: 5 });
    fc.assert(
      fc.property(retries, (some) => {
        const { model, real } = begin(600_000);
        const delays: number[] = [];
        for (const retryAfterSeconds of some) {
          must(real.send.status !== 'failed', 'not before the fifth');
          const due = Number(real.send.dueAt);
          delays.push(due - Number(real.now));
          real.now = new Date(due);
          runClaim(model, real, 0);
          runAnswer(model, real, real.send.attemptNumber, retryable({ retryAfterSeconds }));
        }
        expect(real.send).toMatchObject({ status: 'failed', failureReason: 'attempts_exhausted' });
        expect(model.calls).toBe(5);
        expect(real.refunds).toBe(1);
        const waits = [1, 2, 3, 4].map((n) =>
          retryDelayMs(POLICY, { attempts: n, attemptNumber: n }, UNKNOWN),
        );
        expect(delays).toEqual([0, ...waits]);
      }),
    );
  });

  it('reaches every state, and changes its phase exactly as documented', () => {
    const seen = new Set<DeliveryState>();
    const transitions = new Set<Transition>();
    const command = fc.oneof(...step, anyReceipt, anyReceipt, anyReceipt);
    fc.assert(
      fc.property(lifeMs, fc.array(command, { minLength: 300, maxLength: 300 }), (life, commands) => {
        let { model, real } = begin(life);
        for (const next of commands) {
          next.run(model, real);
          if (real.send.phase !== 'done') continue;
          for (const transition of real.transitions) transitions.add(transition);
          for (const status of model.statuses) seen.add(status);
          ({ model, real } = begin(life));
        }
      }),
      { numRuns: 800 },
    );
    expect(seen).toEqual(new Set(DELIVERY_STATES));
    expect([...transitions].toSorted()).toEqual([...documentedTransitions()].toSorted());
  });
});
