import { readFileSync } from 'node:fs';
import {
  isDelivering,
  isInProgress,
  judge,
  settle,
  type AttemptOutcome,
  type Changes,
  type DeliveryState,
  type GuessedSend,
  type Outcome,
  type Phase,
  type Send,
} from '@onecode/domain';
import { claim, isWorthSending } from '@onecode/testing/claim-model';
import { LEASE_MS, liveSend, permit, POLICY, RECEIPT_WAIT_MS } from './sendFixtures.js';

/** The expected history according to the rules, computed without the code under test. */
export interface Model {
  statuses: DeliveryState[];
  routed: boolean;
  calls: number;
  reassignments: number;
  /** When an attempt last got an unknown outcome. */
  unknownSince: number | null;
}

/** The events that change a send. */
export type Event = 'taken' | 'outcome of the call' | 'receipt' | 'failed receipt';
/** `phase event phase` */
export type Transition = `${Phase} ${Event} ${Phase}`;

/** The changes of phase in the table of `docs/lifecycle.md`: columns are events, rows are phases. */
export function documentedTransitions(): Set<Transition> {
  const table = /^\| phase +\|.*?\n\n/ms.exec(readFileSync('docs/lifecycle.md', 'utf8'))?.[0] ?? '';
  const [[, ...events] = [], , ...rows] = table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  const transitions = rows.flatMap(([from, ...cells]) =>
    cells.flatMap((cell, n) =>
      cell === '–' ? [] : cell.split(', ').map((to) => `${from} ${events[n]} ${to}` as Transition),
    ),
  );
  return new Set(transitions);
}

/** A send with its attempts, its clock and its refunds, as in the store. */
export interface Real {
  now: Date;
  send: Send & Pick<GuessedSend, 'wrongGuesses'>;
  /** By attempt number, including attempts in progress. */
  attempts: Map<number, { senderId: string | null; outcome: AttemptOutcome | null; claimedAt: Date }>;
  refunds: number;
  /** The changes of phase so far. */
  transitions: Set<Transition>;
}

const STATUSES: Readonly<Record<Phase, readonly DeliveryState[]>> = {
  ready: ['queued', 'sending', 'sent'],
  waiting: ['queued', 'sending', 'sent'],
  calling: ['sending', 'sent'],
  backing_off: ['sending', 'sent'],
  giving_up: ['queued', 'sending', 'sent'],
  unconfirmed: ['sent'],
  done: ['sent', 'delivered', 'read', 'failed'],
};
const RANK: readonly DeliveryState[] = ['queued', 'sending', 'sent', 'delivered', 'read'];
/** The longest wait for a permit. */
const PERMIT_WAIT_MS = 1000;
const PERMITS = [
  permit({ id: 's1', number: '+15550000' }),
  permit({ id: 's2', number: '+15550001' }, PERMIT_WAIT_MS),
];

export function begin(lifeMs: number): { model: Model; real: Real } {
  const { createdAt } = liveSend();
  const send = { ...liveSend({ expiresAt: new Date(createdAt.getTime() + lifeMs) }), wrongGuesses: 0 };
  return {
    model: { statuses: ['queued'], routed: false, calls: 0, reassignments: 0, unknownSince: null },
    real: { now: createdAt, send, attempts: new Map(), refunds: 0, transitions: new Set() },
  };
}

export function write(real: Real, decision: Changes, event: Event): void {
  const before = real.send;
  real.send = { ...before, ...decision.change };
  if (decision.change !== undefined && real.send.phase !== before.phase)
    real.transitions.add(`${before.phase} ${event} ${real.send.phase}`);
  if (before.status !== 'failed' && real.send.status === 'failed') real.refunds += 1;
  for (const { number, senderId, outcome, startedAt, report } of decision.attempts ?? []) {
    const isReported = (real.attempts.get(number)?.outcome ?? null) !== null;
    if (isReported && outcome !== 'accepted' && report === undefined) continue;
    real.attempts.set(number, { senderId, outcome, claimedAt: startedAt });
  }
  const { attemptNumber, senderId, claimedAt } = real.send;
  if (claimedAt === null && before.claimedAt !== null && attemptNumber === before.attemptNumber)
    must(real.attempts.get(attemptNumber)?.outcome !== null, 'an attempt that is over has an outcome');
  if (claimedAt !== null && attemptNumber > before.attemptNumber)
    real.attempts.set(attemptNumber, { senderId, outcome: null, claimedAt });
}

/** When a worker may act on the delivery next; 0 if nothing is left to do. */
export const nextAt = ({ dueAt, claimedUntil }: Send): number =>
  Math.max(Number(dueAt), Number(claimedUntil));

/** Throws unless a rule holds. Jest's `expect` would take most of the time of these thousands of checks. */
export function must(isSo: boolean, rule: string): void {
  if (!isSo) throw new Error(rule);
}

export function check(model: Model, real: Real): void {
  const { send } = real;
  const before = model.statuses.at(-1) as DeliveryState;
  if (send.status !== before) {
    model.statuses.push(send.status);
    must(before !== 'failed', 'failed is final');
    if (send.status === 'failed')
      must(RANK.indexOf(before) <= RANK.indexOf('sent'), 'delivered does not fail');
    else must(RANK.indexOf(send.status) > RANK.indexOf(before), 'status never moves back');
  }
  const failed = send.status === 'failed';
  must(send.channel === (model.routed ? 'whatsapp' : null), 'the channel is set once routed');
  must((send.from !== null) === model.routed, 'the sender’s number is set once routed');
  must((send.senderId !== null) === model.routed, 'the sender is set once routed');
  must((send.encryptedCode !== null) === (send.phase !== 'done'), 'the code is kept until the send is done');
  must((send.dueAt !== null) === isDelivering(send), 'a send is due unless it is unconfirmed or done');
  must((send.phase === 'calling') === (send.claimedAt !== null), 'exactly a calling send has a claim');
  must(STATUSES[send.phase].includes(send.status), 'the status fits the phase');
  must((send.failedAt !== null) === failed && (send.failureReason !== null) === failed, 'failed says why');
  must(real.refunds === (failed ? 1 : 0), 'one refund for a failed send');
  must(send.attempts <= POLICY.attemptsMax, 'attempts have a limit');
  must(model.calls <= POLICY.attemptsMax + model.reassignments, 'calls have a limit');
  const times = [send.createdAt, send.sentAt, send.deliveredAt, send.readAt, real.now]
    .filter((time) => time !== null)
    .map(Number);
  must(
    times.every((time, step) => step === 0 || time >= (times[step - 1] as number)),
    'created ≤ sent ≤ delivered ≤ read ≤ now',
  );
  const wait = Math.max(LEASE_MS + PERMIT_WAIT_MS, RECEIPT_WAIT_MS);
  const furthest = Math.max(Number(send.expiresAt), Number(real.now) + wait);
  must(nextAt(send) <= furthest, 'only an attempt or a receipt is awaited beyond the deadline');
}

export function runClaim(model: Model, real: Real, index: number | null): void {
  const before = real.send;
  const now = Number(real.now);
  const taken = index === null ? null : (PERMITS[index] ?? null);
  const decision = claim(before, real.now, { leaseMs: LEASE_MS, policy: POLICY, permit: taken });
  write(real, decision, 'taken');
  const { result } = decision;
  if (decision.attempts?.some((attempt) => attempt.outcome === 'unknown') === true) model.unknownSince = now;
  if (result === 'claimed') {
    model.routed = true;
    model.calls += 1;
    must(taken !== null, 'no claim without a sender');
    const permitAt = new Date(now + (taken?.waitMs ?? 0));
    must(isWorthSending(before, permitAt), 'no claim with too little life left at the time of the permit');
    must(isDelivering(before), 'no claim on a send that is done');
    must(nextAt(before) <= now, 'no claim before it is due');
    must(now < Number(before.expiresAt), 'no claim after the deadline');
    must(before.attempts < POLICY.attemptsMax, 'no claim beyond the last attempt');
    must(before.verification === 'pending', 'no claim once the code was verified or locked');
  }
  if (decision.change?.status === 'failed') mustHaveGivenUp(model, real);
  must(result !== 'rejected_by_provider' || before.phase === 'giving_up', 'a rejection is reported');
  check(model, real);
}

/** A person enters a code. */
export function runGuess(model: Model, real: Real, isRight: boolean): void {
  const { result, isCounted } = judge(real.send, real.now, () => isRight);
  if (isCounted) {
    const verifiedAt = result.valid ? real.now : null;
    const wrongGuesses = real.send.wrongGuesses + (result.valid ? 0 : 1);
    const verification = result.verification as Send['verification'];
    real.send = { ...real.send, verification, verifiedAt, wrongGuesses };
  }
  check(model, real);
}

/** Checks a failure for which no report of the provider is the reason. */
function mustHaveGivenUp(model: Model, { send, now }: Real): void {
  const isActive = send.verification === 'pending' && now < send.expiresAt;
  const ofActive = send.attempts === POLICY.attemptsMax ? 'attempts_exhausted' : 'rejected_by_provider';
  must(
    send.failureReason === (isActive ? ofActive : 'expired_before_delivery'),
    'a send without an active code expired, even if it has used all attempts',
  );
  must(
    model.unknownSince === null || Number(now) - model.unknownSince >= RECEIPT_WAIT_MS,
    'an unknown outcome never fails a send before a receipt had its time',
  );
}

export function runAnswer(model: Model, real: Real, attempt: number, outcome: Outcome): void {
  const isStale = !isInProgress(real.send, attempt);
  const decision = settle(real.send, real.now, attempt, outcome, POLICY);
  must(!isStale || decision.change === undefined, 'a stale answer changes nothing');
  if (!isStale && outcome.kind === 'unknown') {
    model.unknownSince = Number(real.now);
    must(decision.change?.status !== 'failed', 'an unknown outcome never fails a send');
  }
  // A fault or a rate limit uses no attempt.
  if (decision.change?.attempts === real.send.attempts - 1) model.reassignments += 1;
  write(real, decision, 'outcome of the call');
  if (decision.change?.status === 'failed' && decision.result !== 'rejected_by_provider')
    mustHaveGivenUp(model, real);
  check(model, real);
}

/** Workers claim when the send is due and never get a response or receipt, until nothing is due. */
export function abandon(model: Model, real: Real): void {
  const end =
    Math.max(Number(real.send.expiresAt), Number(real.now)) + LEASE_MS + PERMIT_WAIT_MS + 2 * RECEIPT_WAIT_MS;
  for (let round = 0; isDelivering(real.send); round++) {
    must(round < 50, 'every send comes to its end');
    real.now = new Date(Math.max(Number(real.now), nextAt(real.send)));
    runClaim(model, real, round % 2);
  }
  must(Number(real.now) <= end, 'every send comes to its end in time');
}
