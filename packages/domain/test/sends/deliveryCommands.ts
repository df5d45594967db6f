import { decideReceipt, GUESSES_MAX, type Outcome, type Receipt } from '@onecode/domain';
import fc from 'fast-check';
import { isWorthSending } from '@onecode/testing/claim-model';
import {
  check,
  must,
  nextAt,
  runAnswer,
  runClaim,
  runGuess,
  write,
  type Model,
  type Real,
} from './deliveryModel.js';
import {
  ACCEPTED,
  CONFIG_FAULT,
  POLICY,
  RECEIPT_WAIT_MS,
  RECIPIENT_FAULT,
  REQUEST_FAULT,
  retryable,
  SENDER_FAULT,
  UNKNOWN,
} from './sendFixtures.js';

type Command = fc.Command<Model, Real>;

const PROVIDER_OUTCOMES: Outcome[] = [
  ACCEPTED,
  UNKNOWN,
  retryable(),
  retryable({ throttled: 'pair' }),
  retryable({ retryAfterSeconds: 300 }),
  SENDER_FAULT,
  CONFIG_FAULT,
  REQUEST_FAULT,
  RECIPIENT_FAULT,
];

/** Returns the attempt at an index, modulo the number of attempts; null while there is none. */
function attemptAt(real: Real, index: number): number | null {
  const numbers = [...real.attempts.keys()];
  return numbers[index % numbers.length] ?? null;
}

const claims = (index: number | null): Command => ({
  check: () => true,
  run: (model, real) => runClaim(model, real, index),
  toString: () => (index === null ? 'claim, no sender' : `claim for s${index + 1}`),
});

const answers = (index: number, outcome: Outcome): Command => ({
  check: () => true,
  run: (model, real) => runAnswer(model, real, attemptAt(real, index) ?? 0, outcome),
  toString: () => `answer ${index}: ${outcome.kind}`,
});

/**
 * A worker's normal work: waits until the send is due, claims it and writes the outcome.
 * @param isVerified whether the code is verified during the call
 */
const delivers = (outcome: Outcome, isVerified: boolean): Command => ({
  check: () => true,
  run(model, real) {
    real.now = new Date(Math.max(Number(real.now), nextAt(real.send)));
    runClaim(model, real, 0);
    if (isVerified) runGuess(model, real, true);
    if (real.send.claimedUntil !== null) runAnswer(model, real, real.send.attemptNumber, outcome);
  },
  toString: () => `delivery: ${outcome.kind}`,
});

const reports = (index: number, status: Receipt['status'], failure: Outcome, lateMs: number): Command => ({
  check: () => true,
  run(model, real) {
    const number = attemptAt(real, index);
    if (number === null) return;
    const ended = [...real.attempts].flatMap(([other, { outcome }]) =>
      outcome === null ? [] : [[other, outcome] as const],
    );
    const laterIsUnknown = ended.some(([other, outcome]) => other > number && outcome === 'unknown');
    const decision = decideReceipt(
      { send: real.send, now: real.now, outcomes: new Map(ended), policy: POLICY },
      {
        receipt: {
          messageId: `wamid.${number}`,
          attempt: { sendId: real.send.id, number },
          status,
          occurredAt: new Date(real.now.getTime() - lateMs),
          failure: status === 'failed' && failure.kind !== 'accepted' ? failure : null,
        },
        attempt: {
          number,
          senderId: real.attempts.get(number)!.senderId,
          phoneNumberId: null,
          recipientKey: '1:AAAAAAAAAAAAAAAAAAAAAA',
          startedAt: real.attempts.get(number)!.claimedAt,
          messageStatus: null,
        },
      },
    );
    if (decision.change?.phase === 'ready' || decision.change?.phase === 'backing_off')
      model.reassignments += 1;
    must(
      decision.change?.status !== 'failed' ||
        real.send.phase === 'done' ||
        !laterIsUnknown ||
        Number(real.now) - Number(model.unknownSince) >= RECEIPT_WAIT_MS,
      'a send does not fail while a later message may still arrive',
    );
    // The call in progress, which the receipt of an earlier attempt ends.
    if (decision.attempts?.some((one) => one.number !== number && one.outcome === 'unknown') === true)
      model.unknownSince = Number(real.now);
    write(real, decision, status === 'failed' ? 'failed receipt' : 'receipt');
    check(model, real);
  },
  toString: () => `receipt ${index}: ${status}`,
});

/** Wrong guesses until the code is locked, or a right one. */
const guesses = (isRight: boolean): Command => ({
  check: () => true,
  run(model, real) {
    for (let guess = 0; guess < (isRight ? 1 : GUESSES_MAX); guess++) runGuess(model, real, isRight);
  },
  toString: () => (isRight ? 'verified' : 'locked'),
});

const passes = (ms: number): Command => ({
  check: () => true,
  run(model, real) {
    real.now = new Date(real.now.getTime() + ms);
    check(model, real);
  },
  toString: () => `${ms} ms pass`,
});

const passesUntil = (field: 'dueAt' | 'expiresAt', offsetMs: number): Command => ({
  check: () => true,
  run(model, real) {
    const target = Number(real.send[field] ?? real.now) + offsetMs;
    real.now = new Date(Math.max(Number(real.now), target));
    check(model, real);
  },
  toString: () => `time passes until ${field} ${offsetMs} ms`,
});

/** No sender has a permit when the send is due. */
const findsNoSender: Command = {
  check: () => true,
  run(model, real) {
    real.now = new Date(Math.max(Number(real.now), nextAt(real.send)));
    runClaim(model, real, null);
  },
  toString: () => 'no sender',
};

/** Two calls without a response, and then a fault of the sender, or no sender: a receipt of the second message may still arrive. */
const losesTwoCalls = (isOfSender: boolean): Command => ({
  check: () => true,
  run(model, real) {
    const next = isOfSender ? delivers(SENDER_FAULT, false) : findsNoSender;
    for (const one of [delivers(UNKNOWN, false), delivers(UNKNOWN, false), next]) one.run(model, real);
  },
  toString: () => `two calls without a response, then ${isOfSender ? 'a fault of the sender' : 'no sender'}`,
});

/** The account of a waiting send gets its turn: `next_turns` takes the send before it is due. */
const takesTurn: Command = {
  check: () => true,
  run(model, real) {
    if (real.send.phase !== 'waiting' || !isWorthSending(real.send, real.now)) return;
    real.send = { ...real.send, dueAt: real.now };
    runClaim(model, real, 0);
  },
  toString: () => 'turn',
};

const index = fc.nat({ max: 7 });
const outcome = fc.constantFrom(...PROVIDER_OUTCOMES);
const anyClaim = fc.option(fc.nat({ max: 1 }), { freq: 4 }).map(claims);
const anyAnswer = fc.tuple(index, outcome).map((from) => answers(...from));
export const anyReceipt = fc
  .tuple(
    index,
    fc.constantFrom('sent', 'sent', 'delivered', 'read', 'failed', 'failed'),
    fc.constantFrom(RECIPIENT_FAULT, RECIPIENT_FAULT, ...PROVIDER_OUTCOMES),
    fc.integer({ min: -5000, max: 700_000 }),
  )
  .map((from) => reports(...from));
const anyWait = fc
  .oneof(
    { arbitrary: fc.tuple(fc.constant('dueAt'), fc.constantFrom(-1, 0, 1, 40_000)), weight: 3 },
    { arbitrary: fc.tuple(fc.constant('expiresAt'), fc.constantFrom(-31_000, -1, 0, 1)), weight: 1 },
  )
  .map(([field, offset]) => passesUntil(field, offset));
const anyDelivery = fc
  .tuple(
    fc.constantFrom(UNKNOWN, retryable(), ...PROVIDER_OUTCOMES),
    fc.integer({ max: 20, min: 0 }).map((n) => n === 20),
  )
  .map((from) => delivers(...from));
export const step = [
  anyClaim,
  anyAnswer,
  anyDelivery,
  anyDelivery,
  anyWait,
  fc.integer({ min: 1, max: 20_000 }).map(passes),
  fc.constant(findsNoSender),
  fc.constant(takesTurn),
  fc.boolean().map(guesses),
  fc.boolean().map(losesTwoCalls),
];
export const lifeMs = fc.constantFrom(1000, 20_000, 120_000, 600_000);
