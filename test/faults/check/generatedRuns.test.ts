import fc from 'fast-check';
import type { SendRow } from '../evidence.js';
import { check } from './check.js';
import { ServiceModel, VALIDITY_MS, type Timing } from './serviceModel.js';

/** Requests that take time, so that they overlap, and whose answers may be lost. */
const timing: fc.Arbitrary<Timing> = fc.record({
  beforeMs: fc.integer({ min: 1, max: 40 }).map((tenths) => tenths / 10),
  afterMs: fc.integer({ min: 1, max: 40 }).map((tenths) => tenths / 10),
  lost: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
});

type Step = (model: ServiceModel, accounts: readonly string[], send: SendRow | undefined) => void;

const create: fc.Arbitrary<Step> = fc
  .record({
    timing,
    account: fc.nat({ max: 1 }),
    mode: fc.constantFrom('live', 'live', 'live', 'test'),
    keyed: fc.boolean(),
    ownCode: fc.constantFrom(undefined, '4711'),
  })
  .map(({ timing, account, mode, keyed, ownCode }) => (model, accounts) => {
    const key = keyed ? { idempotencyKey: `key-${model.draft.history.length}` } : {};
    const own = ownCode === undefined ? {} : { ownCode };
    model.create({ accountId: accounts[account]!, mode, ...key, ...own }, timing);
  });

/** A step with an existing send; without one it does nothing. */
const withSend = (act: (model: ServiceModel, send: SendRow) => void): Step => {
  return (model, _, send) => {
    if (send !== undefined) act(model, send);
  };
};

const request: fc.Arbitrary<Step> = fc.oneof(
  timing.map((timing) => withSend((model, send) => model.readStatus(send, timing))),
  fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 6 }), timing).map(([isRight, times, timing]) =>
    withSend((model, send) => {
      for (let guess = 0; guess < times; guess++) model.guess(send, isRight, timing);
    }),
  ),
  fc.tuple(timing, fc.boolean()).map(([timing, otherBody]) =>
    withSend((model, send) => {
      if (send.idempotencyKey !== null) model.repeat(send, timing, otherBody);
    }),
  ),
);

const delivery: fc.Arbitrary<Step> = fc.oneof(
  fc
    .constantFrom('accepted' as const, 'answer_lost' as const, 'retry' as const, 'sender' as const)
    .map((outcome) => withSend((model, send) => model.attempt(send, outcome))),
  fc
    .tuple(
      fc.nat(),
      fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
    )
    .map(([pick, status]): Step => (model) => {
      const { messages } = model.draft.provider;
      const message = messages[pick % Math.max(1, messages.length)];
      if (message !== undefined) model.report(message, status);
    }),
  fc.constant(withSend((model, send) => model.simulate(send))),
  fc.constant(withSend((model, send) => model.awaitSender(send))),
);

const passTime: fc.Arbitrary<Step> = fc.constantFrom(1, 50, 2_500, VALIDITY_MS / 2).map(
  (ms): Step =>
    (model) =>
      model.passTime(ms),
);

const step = fc.oneof(
  { weight: 3, arbitrary: create },
  { weight: 8, arbitrary: request },
  { weight: 8, arbitrary: delivery },
  { weight: 1, arbitrary: passTime },
);

function run(steps: readonly { step: Step; pick: number }[]): ServiceModel {
  const model = new ServiceModel();
  const accounts = [model.addAccount(2, 3), model.addAccount(0, 1)];
  for (const { step, pick } of steps) {
    const { sends } = model.draft.rows;
    // One of the latest sends, so that many steps concern the same send.
    step(model, accounts, sends[Math.max(0, sends.length - 1 - (pick % 3))]);
  }
  model.settle();
  return model;
}

const runs = fc.array(fc.record({ step, pick: fc.nat({ max: 5 }) }), { maxLength: 80, size: 'max' }).map(run);

describe('the checker, on runs of a service that keeps every promise', () => {
  it('finds nothing, whatever clients, senders and the provider do', () => {
    fc.assert(
      fc.property(runs, (model) => expect(check(model.draft)).toEqual([])),
      { numRuns: 1_000 },
    );
  });

  it('sees every final state in these runs', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(runs, (model) => {
        for (const { status, verification } of model.draft.rows.sends) states.add(status).add(verification);
      }),
      { numRuns: 400 },
    );
    for (const state of ['queued', 'sent', 'delivered', 'read', 'failed', 'verified', 'locked', 'pending'])
      expect(states).toContain(state);
  });
});
