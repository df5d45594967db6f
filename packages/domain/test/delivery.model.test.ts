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

function check(model: Model, world: World): void {
  const { send } = world;
  const before = model.statuses.at(-1) as DeliveryState;
  if (send.status !== before) {
    model.statuses.push(send.status);
    expect(before).not.toBe('failed');
    if (send.status === 'failed') expect(['queued', 'sending', 'sent']).toContain(before);
    else expect(RANK.indexOf(send.status)).toBeGreaterThan(RANK.indexOf(before));
  }
  const waits = send.status === 'queued' || send.status === 'sending';
  expect({
    channel: send.channel,
    routed: send.from !== null && send.senderId !== null,
    hasBox: send.codeBox !== null,
    isDue: send.dueAt !== null,
    failed: [send.failedAt !== null, send.failureReason !== null],
  }).toEqual({
    channel: model.routed ? 'whatsapp' : null,
    routed: model.routed,
    hasBox: waits,
    isDue: waits,
    failed: [send.status === 'failed', send.status === 'failed'],
  });
  if (!waits) expect(send.awaitingSender).toBe(false);
  expect(world.refunds).toBe(send.status === 'failed' ? 1 : 0);
  expect(send.attempts).toBeLessThanOrEqual(POLICY.attemptsMax);
  expect(model.calls).toBeLessThanOrEqual(POLICY.attemptsMax + model.handOvers);
  const times = [send.createdAt, send.sentAt, send.deliveredAt, send.readAt, world.now]
    .filter((time) => time !== null)
    .map(Number);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  // Nothing waits longer than the code lives, but for an attempt under way and for a receipt.
  const furthest = Math.max(
    Number(send.expiresAt),
    Number(world.now) + Math.max(LEASE_MS, settleDelayMs(POLICY)),
  );
  expect(Number(send.dueAt ?? 0)).toBeLessThanOrEqual(furthest);
}

function runClaim(model: Model, world: World, index: number | null): void {
  const before = world.send;
  const attemptId = `attempt-${world.attempts.size + 1}`;
  const decision = claim(before, world.now, {
    attemptId,
    leaseMs: LEASE_MS,
    policy: POLICY,
    sender: () => (index === null ? null : (SENDERS[index] ?? null)),
  });
  write(world, decision);
  const { result } = decision;
  if (decision.attempts?.some((attempt) => attempt.outcome === 'unknown') === true)
    model.unknownSince = Number(world.now);
  if (result.kind === 'claimed') {
    model.routed = true;
    model.calls += 1;
    expect(index).not.toBeNull();
    expect(isUndelivered(before)).toBe(true);
    expect(Number(before.dueAt)).toBeLessThanOrEqual(Number(world.now));
    expect(isWorthSending(before, world.now)).toBe(true);
    expect(Number(world.now)).toBeLessThan(Number(before.expiresAt));
    expect(before.attempts).toBeLessThan(POLICY.attemptsMax);
  }
  if (result.kind === 'failed') {
    if (result.reason === 'expired_before_delivery')
      expect(Number(world.now)).toBeGreaterThanOrEqual(Number(before.expiresAt));
    else expect(before.attempts).toBe(POLICY.attemptsMax);
    // An unknown outcome never fails a send by itself: a receipt had its time.
    if (model.unknownSince !== null)
      expect(Number(world.now) - model.unknownSince).toBeGreaterThanOrEqual(settleDelayMs(POLICY));
  }
  check(model, world);
}

const claims = (index: number | null): Command => ({
  check: () => true,
  run: (model, world) => runClaim(model, world, index),
  toString: () => (index === null ? 'claim, no sender' : `claim for s${index + 1}`),
});

const answers = (index: number, outcome: Outcome, random: number): Command => ({
  check: () => true,
  run(model, world) {
    const id = attemptAt(world, index) ?? 'attempt-0';
    const isStale = world.send.attemptId !== id;
    const decision = settle(world.send, world.now, id, outcome, POLICY, random);
    if (isStale) expect(decision).toEqual({ result: { kind: 'stale' } });
    if (!isStale && outcome.kind === 'unknown') {
      model.unknownSince = Number(world.now);
      expect(decision.result.kind).not.toBe('failed');
    }
    if (decision.result.kind === 'hand_over') model.handOvers += 1;
    write(world, decision);
    check(model, world);
  },
  toString: () => `answer ${index}: ${outcome.kind}`,
});

const reports = (index: number, status: Receipt['status'], failure: Outcome, lateMs: number): Command => ({
  check: (_model) => true,
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
  .map(([field, offset]) => passesUntil(field as 'dueAt' | 'expiresAt', offset));
const step = [
  anyClaim,
  anyClaim,
  anyAnswer,
  anyAnswer,
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
    expect(round).toBeLessThan(50);
    world.now = new Date(Math.max(Number(world.now), Number(world.send.dueAt)));
    runClaim(model, world, round % 2);
  }
  expect(Number(world.now)).toBeLessThanOrEqual(end);
}

describe('a delivery', () => {
  it('keeps its rules in any order of claims, answers, waits and receipts, and always ends', () => {
    fc.assert(
      fc.property(lifeMs, fc.commands([...step, anyReceipt], { maxCommands: 40 }), (life, commands) => {
        const start = begin(life);
        fc.modelRun(() => start, commands);
        abandon(start.model, start.real);
      }),
      { numRuns: 1000 },
    );
  });

  it('keeps its rules without any receipt, and always ends', () => {
    fc.assert(
      fc.property(lifeMs, fc.commands(step, { maxCommands: 60 }), (life, commands) => {
        const start = begin(life);
        fc.modelRun(() => start, commands);
        abandon(start.model, start.real);
      }),
      { numRuns: 1000 },
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
          expect(real.send.status).not.toBe('failed');
          real.now = real.send.dueAt!;
          runClaim(model, real, 0);
          const decision = settle(
            real.send,
            real.now,
            real.send.attemptId!,
            retryable({ throttled }),
            POLICY,
            random,
          );
          write(real, decision);
          check(model, real);
          if (decision.result.kind === 'retry') delays.push(decision.result.delayMs);
        }
        expect(real.send).toMatchObject({ status: 'failed', failureReason: 'attempts_exhausted' });
        expect(model.calls).toBe(5);
        expect(real.refunds).toBe(1);
        expect(delays).toEqual(
          some
            .slice(0, 4)
            .map(({ chance: random }, attempt) => retryDelayMs(POLICY, attempt + 1, UNKNOWN, random)),
        );
      }),
    );
  });

  it('reaches every state in these runs', () => {
    const seen = new Set<DeliveryState>();
    fc.assert(
      fc.property(fc.commands([...step, anyReceipt], { maxCommands: 40 }), (commands) => {
        const start = begin(600_000);
        fc.modelRun(() => start, commands);
        for (const status of start.model.statuses) seen.add(status);
      }),
      { numRuns: 500 },
    );
    expect(seen).toEqual(new Set(DELIVERY_STATES));
  });
});
