import {
  applyReceipt,
  claim,
  DELIVERY_STATES,
  isUndelivered,
  isWorthSending,
  retryDelayMs,
  settle,
  settleDelayMs,
  type AttemptOutcome,
  type Decision,
  type DeliveryState,
  type Outcome,
  type Receipt,
  type Send,
} from '@onecode/domain';
import fc from 'fast-check';
import {
  ACCEPTED,
  CONFIG_FAULT,
  LEASE_MS,
  liveSend,
  POLICY,
  RECIPIENT_FAULT,
  REQUEST_FAULT,
  retryable,
  SENDER_FAULT,
  sender,
  UNKNOWN,
} from './sends.js';

/** What must have happened by the rules, told without the code under test. */
interface Model {
  statuses: DeliveryState[];
  routed: boolean;
  calls: number;
  handOvers: number;
  /** When it was last learnt that some attempt's outcome is unknown. */
  unknownSince: number | null;
}

/** A send with its attempts, its clock and its ledger, kept as the store keeps them. */
interface World {
  now: Date;
  send: Send;
  attempts: Map<string, { senderId: string | null; outcome: AttemptOutcome | null }>;
  refunds: number;
}

type Command = fc.Command<Model, World>;

const RANK: readonly DeliveryState[] = ['queued', 'sending', 'sent', 'delivered', 'read'];
const PROVIDER_SAYS: Outcome[] = [
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
const SENDERS = ['s1', 's2'].map((id, index) => sender({ id, number: `+1555000${index}` }));

function begin(lifeMs: number): { model: Model; real: World } {
  const { createdAt } = liveSend();
  const send = liveSend({ expiresAt: new Date(createdAt.getTime() + lifeMs) });
  return {
    model: { statuses: ['queued'], routed: false, calls: 0, handOvers: 0, unknownSince: null },
    real: { now: createdAt, send, attempts: new Map(), refunds: 0 },
  };
}

function write(world: World, decision: Decision<unknown>): void {
  const before = world.send;
  world.send = { ...before, ...decision.change };
  if (before.status !== 'failed' && world.send.status === 'failed') world.refunds += 1;
  for (const attempt of decision.attempts ?? [])
    world.attempts.set(attempt.id, { senderId: attempt.senderId, outcome: attempt.outcome });
}

/** The nth attempt, counted round, or null while there is none. */
function attemptAt(world: World, index: number): string | null {
  const ids = [...world.attempts.keys()];
  return ids[index % ids.length] ?? null;
}

/** Thousands of steps are checked: a bare comparison, where `expect` would take most of the time. */
function must(isSo: boolean, rule: string): void {
  if (!isSo) throw new Error(rule);
}

function check(model: Model, world: World): void {
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
  must((send.codeBox !== null) === waits, 'the box is there exactly while it is needed');
  must((send.dueAt !== null) === waits, 'a send is due exactly while it waits');
  must(waits || !send.awaitingSender, 'only a waiting send waits for a sender');
  must((send.failedAt !== null) === failed && (send.failureReason !== null) === failed, 'failed says why');
  must(world.refunds === (failed ? 1 : 0), 'one refund for a failed send');
  must(send.attempts <= POLICY.attemptsMax, 'attempts have a limit');
  must(model.calls <= POLICY.attemptsMax + model.handOvers, 'calls have a limit');
  const times = [send.createdAt, send.sentAt, send.deliveredAt, send.readAt, world.now]
    .filter((time) => time !== null)
    .map(Number);
  must(
    times.every((time, step) => step === 0 || time >= (times[step - 1] as number)),
    'created ≤ sent ≤ delivered ≤ read ≤ now',
  );
  const wait = Math.max(LEASE_MS, settleDelayMs(POLICY));
  const furthest = Math.max(Number(send.expiresAt), Number(world.now) + wait);
  must(Number(send.dueAt ?? 0) <= furthest, 'only an attempt or a receipt is awaited beyond the deadline');
}

function runClaim(model: Model, world: World, index: number | null): void {
  const before = world.send;
  const now = Number(world.now);
  const attemptId = `attempt-${world.attempts.size + 1}`;
  const decision = claim(before, world.now, {
    attemptId,
    leaseMs: LEASE_MS,
    policy: POLICY,
    sender: () => (index === null ? null : (SENDERS[index] ?? null)),
  });
  write(world, decision);
  const { result } = decision;
  if (decision.attempts?.some((attempt) => attempt.outcome === 'unknown') === true) model.unknownSince = now;
  if (result.kind === 'claimed') {
    model.routed = true;
    model.calls += 1;
    must(index !== null, 'no claim without a sender');
    must(isUndelivered(before), 'no claim on a settled send');
    must(Number(before.dueAt) <= now, 'no claim before it is due');
    must(now < Number(before.expiresAt), 'no claim after the deadline');
    must(isWorthSending(before, world.now), 'no claim with too little life left');
    must(before.attempts < POLICY.attemptsMax, 'no claim beyond the last attempt');
  }
  if (result.kind === 'failed') {
    if (result.reason === 'expired_before_delivery')
      must(now >= Number(before.expiresAt), 'nothing expires before its deadline');
    else must(before.attempts === POLICY.attemptsMax, 'attempts are exhausted when all were made');
    mustHaveHadItsReceipt(model, now);
  }
  check(model, world);
}

function mustHaveHadItsReceipt(model: Model, now: number): void {
  must(
    model.unknownSince === null || now - model.unknownSince >= settleDelayMs(POLICY),
    'an unknown outcome never fails a send before a receipt had its time',
  );
}

const claims = (index: number | null): Command => ({
  check: () => true,
  run: (model, world) => runClaim(model, world, index),
  toString: () => (index === null ? 'claim, no sender' : `claim for s${index + 1}`),
});

function runAnswer(model: Model, world: World, id: string, outcome: Outcome, random: number): void {
  const isStale = world.send.attemptId !== id;
  const decision = settle(world.send, world.now, id, outcome, POLICY, random);
  must(!isStale || decision.change === undefined, 'a stale answer changes nothing');
  if (!isStale && outcome.kind === 'unknown') {
    model.unknownSince = Number(world.now);
    must(decision.result.kind !== 'failed', 'an unknown outcome never fails a send');
  }
  if (decision.result.kind === 'failed' && decision.result.reason === 'attempts_exhausted')
    mustHaveHadItsReceipt(model, Number(world.now));
  if (decision.result.kind === 'hand_over') model.handOvers += 1;
  write(world, decision);
  check(model, world);
}

const answers = (index: number, outcome: Outcome, random: number): Command => ({
  check: () => true,
  run: (model, world) => runAnswer(model, world, attemptAt(world, index) ?? 'attempt-0', outcome, random),
  toString: () => `answer ${index}: ${outcome.kind}`,
});

/** What a worker does when nothing is in its way: waits until the send is due, claims it and writes the answer. */
const delivers = (outcome: Outcome, random: number): Command => ({
  check: () => true,
  run(model, world) {
    world.now = new Date(Math.max(Number(world.now), Number(world.send.dueAt ?? 0)));
    runClaim(model, world, 0);
    if (world.send.attemptId !== null) runAnswer(model, world, world.send.attemptId, outcome, random);
  },
  toString: () => `delivery: ${outcome.kind}`,
});

const reports = (index: number, status: Receipt['status'], failure: Outcome, lateMs: number): Command => ({
  check: () => true,
  run(model, world) {
    const id = attemptAt(world, index);
    if (id === null) return;
    const others = [...world.attempts].filter(([other]) => other !== id);
    const decision = applyReceipt(
      world.send,
      world.now,
      {
        messageId: `wamid.${id}`,
        attemptId: id,
        status,
        occurredAt: new Date(world.now.getTime() - lateMs),
        failure: status === 'failed' && failure.kind !== 'accepted' ? failure : null,
      },
      {
        id,
        senderId: world.attempts.get(id)!.senderId,
        outcome: world.attempts.get(id)!.outcome,
        otherIsLive: others.some(
          ([other, { outcome }]) => outcome === 'accepted' || other === world.send.attemptId,
        ),
      },
    );
    write(world, decision);
    check(model, world);
  },
  toString: () => `receipt ${index}: ${status}`,
});

const passes = (ms: number): Command => ({
  check: () => true,
  run(model, world) {
    world.now = new Date(world.now.getTime() + ms);
    check(model, world);
  },
  toString: () => `${ms} ms pass`,
});

const passesUntil = (field: 'dueAt' | 'expiresAt', offsetMs: number): Command => ({
  check: () => true,
  run(model, world) {
    const target = Number(world.send[field] ?? world.now) + offsetMs;
    world.now = new Date(Math.max(Number(world.now), target));
    check(model, world);
  },
  toString: () => `time passes until ${field} ${offsetMs} ms`,
});

/** A sender has become available: what the sweep does to sends that wait for one. */
const wakes: Command = {
  check: () => true,
  run(model, world) {
    if (world.send.awaitingSender && world.now < world.send.expiresAt)
      world.send = { ...world.send, awaitingSender: false, dueAt: world.now };
    check(model, world);
  },
  toString: () => 'wake',
};

const index = fc.nat({ max: 7 });
const outcome = fc.constantFrom(...PROVIDER_SAYS);
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const anyClaim = fc.option(fc.nat({ max: 1 }), { freq: 4 }).map(claims);
const anyAnswer = fc.tuple(index, outcome, chance).map((from) => answers(...from));
const anyReceipt = fc
  .tuple(
    index,
    fc.constantFrom('sent', 'delivered', 'read', 'failed'),
    outcome,
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
  .tuple(fc.constantFrom(UNKNOWN, retryable(), ...PROVIDER_SAYS), chance)
  .map((from) => delivers(...from));
const step = [
  anyClaim,
  anyAnswer,
  anyDelivery,
  anyDelivery,
  anyWait,
  fc.integer({ min: 1, max: 20_000 }).map(passes),
  fc.constant(wakes),
];
const lifeMs = fc.constantFrom(1000, 20_000, 120_000, 600_000);

/** What workers and sweeps would do with nobody helping: claim when due, hear nothing, until nothing is due. */
function abandon(model: Model, world: World): void {
  const end =
    Math.max(Number(world.send.expiresAt), Number(world.now)) + LEASE_MS + 2 * settleDelayMs(POLICY);
  for (let round = 0; isUndelivered(world.send); round++) {
    must(round < 50, 'every send comes to its end');
    world.now = new Date(Math.max(Number(world.now), Number(world.send.dueAt)));
    runClaim(model, world, round % 2);
  }
  must(Number(world.now) <= end, 'every send comes to its end in time');
}

describe('a delivery', () => {
  it('keeps its rules in any order of claims, answers, waits and receipts, and always ends', () => {
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
      { numRuns: 4000 },
    );
  });

  it('keeps its rules without any receipt, and always ends', () => {
    fc.assert(
      fc.property(lifeMs, fc.commands(step, { maxCommands: 60, size: 'max' }), (life, commands) => {
        const start = begin(life);
        fc.modelRun(() => start, commands);
        abandon(start.model, start.real);
      }),
      { numRuns: 4000 },
    );
  });

  it('whose every attempt may be retried ends in attempts_exhausted after exactly five', () => {
    const retries = fc.array(
      fc.record({ throttled: fc.constantFrom('none', 'sender', 'business'), chance }),
      { minLength: 5, maxLength: 5 },
    );
    fc.assert(
      fc.property(retries, (some) => {
        const { model, real } = begin(600_000);
        const delays: number[] = [];
        for (const { throttled, chance: random } of some) {
          must(real.send.status !== 'failed', 'not before the fifth');
          const due = Number(real.send.dueAt);
          delays.push(due - Number(real.now));
          real.now = new Date(due);
          runClaim(model, real, 0);
          runAnswer(model, real, real.send.attemptId!, retryable({ throttled }), random);
        }
        expect(real.send).toMatchObject({ status: 'failed', failureReason: 'attempts_exhausted' });
        expect(model.calls).toBe(5);
        expect(real.refunds).toBe(1);
        const waits = some.map(({ chance: random }, n) => retryDelayMs(POLICY, n + 1, UNKNOWN, random));
        expect(delays).toEqual([0, ...waits.slice(0, 4)]);
      }),
    );
  });

  it('reaches every state in these runs', () => {
    const seen = new Set<DeliveryState>();
    fc.assert(
      fc.property(fc.commands([...step, anyReceipt], { maxCommands: 40, size: 'max' }), (commands) => {
        const start = begin(600_000);
        fc.modelRun(() => start, commands);
        for (const status of start.model.statuses) seen.add(status);
      }),
      { numRuns: 500 },
    );
    expect(seen).toEqual(new Set(DELIVERY_STATES));
  });
});
