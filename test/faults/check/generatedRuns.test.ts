import fc from 'fast-check';
import type { SendRow } from '../evidence.js';
import { check } from './check.js';
import { Model, type Course } from './model.js';
import { LIFE_MS } from './modelService.js';

/** A request that may last, and overlap others, and whose answer may be lost. */
const course: fc.Arbitrary<Course> = fc.record({
  beforeMs: fc.integer({ min: 1, max: 40 }).map((tenths) => tenths / 10),
  afterMs: fc.integer({ min: 1, max: 40 }).map((tenths) => tenths / 10),
  lost: fc.integer({ min: 0, max: 9 }).map((draw) => draw === 0),
});

type Step = (model: Model, accounts: readonly string[], send: SendRow | undefined) => void;

const create: fc.Arbitrary<Step> = fc
  .record({
    course,
    account: fc.nat({ max: 1 }),
    mode: fc.constantFrom('live', 'live', 'live', 'test'),
    keyed: fc.boolean(),
    ownCode: fc.constantFrom(undefined, '4711'),
  })
  .map(({ course, account, mode, keyed, ownCode }) => (model, accounts) => {
    const key = keyed ? { idempotencyKey: `key-${model.draft.history.length}` } : {};
    const own = ownCode === undefined ? {} : { ownCode };
    model.create({ accountId: accounts[account]!, mode, ...key, ...own }, course);
  });

/** A step with a send that is there; nothing without one. */
const withSend = (act: (model: Model, send: SendRow) => void): Step => {
  return (model, _, send) => {
    if (send !== undefined) act(model, send);
  };
};

const request: fc.Arbitrary<Step> = fc.oneof(
  course.map((course) => withSend((model, send) => model.look(send, course))),
  fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 6 }), course).map(([isRight, times, course]) =>
    withSend((model, send) => {
      for (let guess = 0; guess < times; guess++) model.guess(send, isRight, course);
    }),
  ),
  fc.tuple(course, fc.boolean()).map(([course, otherBody]) =>
    withSend((model, send) => {
      if (send.idempotencyKey !== null) model.repeat(send, course, otherBody);
    }),
  ),
);

const work: fc.Arbitrary<Step> = fc.oneof(
  fc
    .constantFrom('accepted' as const, 'unheard' as const, 'retry' as const, 'sender' as const)
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
  fc.constant(withSend((model, send) => model.await(send))),
);

const pass: fc.Arbitrary<Step> = fc.constantFrom(1, 50, 2_500, LIFE_MS / 2).map(
  (ms): Step =>
    (model) =>
      model.pass(ms),
);

const step = fc.oneof(
  { weight: 3, arbitrary: create },
  { weight: 8, arbitrary: request },
  { weight: 8, arbitrary: work },
  { weight: 1, arbitrary: pass },
);

function run(steps: readonly { step: Step; pick: number }[]): Model {
  const model = new Model();
  const accounts = [model.account(2, 3), model.account(0, 1)];
  for (const { step, pick } of steps) {
    const { sends } = model.draft.rows;
    // Mostly one of the last, so that much happens to a few.
    step(model, accounts, sends[Math.max(0, sends.length - 1 - (pick % 3))]);
  }
  model.settle();
  return model;
}

const anyRun = fc
  .array(fc.record({ step, pick: fc.nat({ max: 5 }) }), { maxLength: 80, size: 'max' })
  .map(run);

describe('the checker, on runs of a service that keeps every promise', () => {
  it('finds nothing, whatever clients, senders and the provider do', () => {
    fc.assert(
      fc.property(anyRun, (model) => expect(check(model.draft)).toEqual([])),
      { numRuns: 1_000 },
    );
  });

  it('sees every end in these runs', () => {
    const ends = new Set<string>();
    fc.assert(
      fc.property(anyRun, (model) => {
        for (const { status, verification } of model.draft.rows.sends) ends.add(status).add(verification);
      }),
      { numRuns: 400 },
    );
    for (const end of ['queued', 'sent', 'delivered', 'read', 'failed', 'verified', 'locked', 'pending'])
      expect(ends).toContain(end);
  });
});
