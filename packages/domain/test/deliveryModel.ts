import {
  claim,
  releaseClaim,
  isUndelivered,
  isWorthSending,
  judge,
  settle,
  settleDelayMs,
  type AttemptOutcome,
  type Decision,
  type DeliveryState,
  type Outcome,
  type Send,
} from '@onecode/domain';
import { LEASE_MS, liveSend, POLICY, slot } from './sends.js';

/** What must have happened by the rules, told without the code under test. */
export interface Model {
  statuses: DeliveryState[];
  routed: boolean;
  calls: number;
  reassignments: number;
  /** When it was last learnt that some attempt's outcome is unknown. */
  unknownSince: number | null;
}

/** A send with its attempts, its clock and its ledger, kept as the store keeps them. */
export interface World {
  now: Date;
  send: Send;
  attempts: Map<string, { senderId: string | null; outcome: AttemptOutcome | null; claimedAt: Date }>;
  refunds: number;
}

const RANK: readonly DeliveryState[] = ['queued', 'sending', 'sent', 'delivered', 'read'];
/** What a slot is waited for at the most. */
export const SLOT_WAIT_MS = 1000;
const SLOTS = [
  slot({ id: 's1', number: '+15550000' }),
  slot({ id: 's2', number: '+15550001' }, SLOT_WAIT_MS),
];

export function begin(lifeMs: number): { model: Model; real: World } {
  const { createdAt } = liveSend();
  const send = liveSend({ expiresAt: new Date(createdAt.getTime() + lifeMs) });
  return {
    model: { statuses: ['queued'], routed: false, calls: 0, reassignments: 0, unknownSince: null },
    real: { now: createdAt, send, attempts: new Map(), refunds: 0 },
  };
}

export function write(world: World, decision: Decision<unknown>): void {
  const before = world.send;
  world.send = { ...before, ...decision.change };
  if (before.status !== 'failed' && world.send.status === 'failed') world.refunds += 1;
  for (const attempt of decision.attempts ?? [])
    world.attempts.set(attempt.id, {
      senderId: attempt.senderId,
      outcome: attempt.outcome,
      claimedAt: world.attempts.get(attempt.id)?.claimedAt ?? world.now,
    });
}

/** Thousands of steps are checked: a bare comparison, where `expect` would take most of the time. */
export function must(isSo: boolean, rule: string): void {
  if (!isSo) throw new Error(rule);
}

export function check(model: Model, world: World): void {
  const { send } = world;
  const before = model.statuses.at(-1) as DeliveryState;
  if (send.status !== before) {
    model.statuses.push(send.status);
    must(before !== 'failed', 'failed is final');
    if (send.status === 'failed')
      must(RANK.indexOf(before) <= RANK.indexOf('sent'), 'delivered does not fail');
    else must(RANK.indexOf(send.status) > RANK.indexOf(before), 'status never moves back');
  }
  const waits = send.status === 'queued' || send.status === 'sending';
  const failed = send.status === 'failed';
  must(send.channel === (model.routed ? 'whatsapp' : null), 'the channel is set once routed');
  must((send.from !== null) === model.routed, 'the sender’s number is set once routed');
  must((send.senderId !== null) === model.routed, 'the sender is set once routed');
  must((send.sealedCode !== null) === waits, 'the box is there exactly while it is needed');
  must((send.dueAt !== null) === waits, 'a send is due exactly while it waits');
  must(waits || !send.awaitingSender, 'only a waiting send waits for a sender');
  must((send.failedAt !== null) === failed && (send.failureReason !== null) === failed, 'failed says why');
  must(world.refunds === (failed ? 1 : 0), 'one refund for a failed send');
  must(send.attempts <= POLICY.attemptsMax, 'attempts have a limit');
  must(model.calls <= POLICY.attemptsMax + model.reassignments, 'calls have a limit');
  const times = [send.createdAt, send.sentAt, send.deliveredAt, send.readAt, world.now]
    .filter((time) => time !== null)
    .map(Number);
  must(
    times.every((time, step) => step === 0 || time >= (times[step - 1] as number)),
    'created ≤ sent ≤ delivered ≤ read ≤ now',
  );
  const wait = Math.max(LEASE_MS + SLOT_WAIT_MS, settleDelayMs(POLICY));
  const furthest = Math.max(Number(send.expiresAt), Number(world.now) + wait);
  must(Number(send.dueAt ?? 0) <= furthest, 'only an attempt or a receipt is awaited beyond the deadline');
}

export function runClaim(model: Model, world: World, index: number | null): void {
  const before = world.send;
  const now = Number(world.now);
  const attemptId = `attempt-${world.attempts.size + 1}`;
  const taken = index === null ? null : (SLOTS[index] ?? null);
  const decision = claim(before, world.now, { attemptId, leaseMs: LEASE_MS, policy: POLICY, slot: taken });
  write(world, decision);
  const { result } = decision;
  if (decision.attempts?.some((attempt) => attempt.outcome === 'unknown') === true) model.unknownSince = now;
  if (result.kind === 'claimed') {
    model.routed = true;
    model.calls += 1;
    must(taken !== null, 'no claim without a sender');
    const goesAt = new Date(now + (taken?.waitMs ?? 0));
    must(isWorthSending(before, goesAt), 'no claim with too little life left when the message goes');
    must(isUndelivered(before), 'no claim on a settled send');
    must(Number(before.dueAt) <= now, 'no claim before it is due');
    must(now < Number(before.expiresAt), 'no claim after the deadline');
    must(before.attempts < POLICY.attemptsMax, 'no claim beyond the last attempt');
    must(before.verification === 'pending', 'no claim once the code was verified or locked');
  }
  if (result.kind === 'failed') {
    if (result.reason === 'expired_before_delivery')
      must(
        now >= Number(before.expiresAt) || before.verification !== 'pending',
        'nothing expires before its deadline but what is of no use',
      );
    else must(before.attempts === POLICY.attemptsMax, 'attempts are exhausted when all were made');
    mustHaveHadItsReceipt(model, now);
  }
  check(model, world);
}

/** Somebody types a code. */
export function runGuess(model: Model, world: World, isRight: boolean): void {
  const { attemptId, status } = world.send;
  write(
    world,
    judge(world.send, world.now, () => isRight),
  );
  must(world.send.attemptId === attemptId && world.send.status === status, 'a guess leaves a call alone');
  check(model, world);
}

/** The worker stops before the time of the slot. */
export function runHandBack(model: Model, world: World): void {
  const before = world.send;
  const { attemptId } = before;
  if (attemptId === null) return;
  write(world, releaseClaim(before, world.now, attemptId));
  must(world.send.attempts === before.attempts - 1, 'a message that was not written uses up no attempt');
  model.calls -= 1;
  check(model, world);
}

function mustHaveHadItsReceipt(model: Model, now: number): void {
  must(
    model.unknownSince === null || now - model.unknownSince >= settleDelayMs(POLICY),
    'an unknown outcome never fails a send before a receipt had its time',
  );
}

export function runAnswer(model: Model, world: World, id: string, outcome: Outcome, random: number): void {
  const isStale = world.send.attemptId !== id;
  const decision = settle(world.send, world.now, id, outcome, POLICY, random);
  must(!isStale || decision.change === undefined, 'a stale answer changes nothing');
  if (!isStale && outcome.kind === 'unknown') {
    model.unknownSince = Number(world.now);
    must(decision.result.kind !== 'failed', 'an unknown outcome never fails a send');
  }
  if (decision.result.kind === 'failed' && decision.result.reason !== 'rejected_by_provider')
    mustHaveHadItsReceipt(model, Number(world.now));
  if (decision.result.kind === 'reassign') model.reassignments += 1;
  write(world, decision);
  check(model, world);
}

/** What workers and sweeps would do with nobody helping: claim when due, hear nothing, until nothing is due. */
export function abandon(model: Model, world: World): void {
  // A code that was verified or locked does not wait for its deadline.
  const isPending = world.send.verification === 'pending';
  const end =
    Math.max(isPending ? Number(world.send.expiresAt) : 0, Number(world.now)) +
    LEASE_MS +
    SLOT_WAIT_MS +
    2 * settleDelayMs(POLICY);
  for (let round = 0; isUndelivered(world.send); round++) {
    must(round < 50, 'every send comes to its end');
    world.now = new Date(Math.max(Number(world.now), Number(world.send.dueAt)));
    runClaim(model, world, round % 2);
  }
  must(Number(world.now) <= end, 'every send comes to its end in time');
}
