import { until } from '@onecode/testing';
import { check } from './check/check.js';
import { readEvidence } from './check/readEvidence.js';
import { perform, type Goals, type Injection, type Stage } from './conductor.js';
import type { Violation } from './evidence.js';
import type { Fault } from './faults/fault.js';
import { DELIVERY_ATTEMPTS, House } from './house/house.js';
import { buildCallers } from './load/callers.js';
import { startLoad } from './load/load.js';
import { Random } from './load/plan.js';
import { medianOf } from './recovery.js';

export interface RunOptions {
  seed: number;
  accounts: number;
  sendsPerSecond: number;
  goals: Goals;
  /** The faults one after another, drawn from the seed; the run ends with the last, or when `seconds` are over. */
  schedule: (random: Random) => Iterable<Fault>;
  seconds: number;
  /** Hears how each injection went. */
  say: (line: string) => void;
}

/** What a run found. */
export interface RunResult {
  seed: number;
  seconds: number;
  clients: number;
  requests: number;
  sends: number;
  messages: number;
  kills: number;
  /** Kills by crash point. */
  killedAt: Record<string, number>;
  injections: SettledInjection[];
  violations: Violation[];
  /** Processes that ended although nobody wanted it, errors that no outage explains, and goals that were missed. */
  faults: string[];
}

/** An injection, when it is also known when all that waited had gone. */
export type SettledInjection = Omit<Injection, 'recovery'> & {
  recovery: Omit<Injection['recovery'], 'drainedMs'> & { drainedMs: number | null };
};

/** Codes live for so long in a run, so that some expire before they can be sent. */
const CODE_VALIDITY_SECONDS = 60;
const SETTLE_MS_MAX = 150_000;
/** A client waits longer than the API may take, so that a hang of the API shows. */
const REQUEST_MS_MAX = 25_000;
const WARM_UP_MS = 2_000;

/** Starts the house and a load, breaks one thing after another, and holds what is left against the invariants. */
export async function runFaults(options: RunOptions): Promise<RunResult> {
  const house = await House.start();
  try {
    return await breakThings(house, options);
  } finally {
    await house.close();
  }
}

async function breakThings(house: House, options: RunOptions): Promise<RunResult> {
  const { seed, say } = options;
  const begun = performance.now();
  const now = (): number => performance.now() - begun;
  await house.db.sql('update settings set code_validity_seconds = $1', [CODE_VALIDITY_SECONDS]);
  const load = startLoad({
    apiUrls: () => house.apiUrls,
    callers: await buildCallers(house.db, options.accounts),
    seed,
    sendsPerSecond: options.sendsPerSecond,
    now,
    codeOf: async (recipient) => (await house.simulator.messages(recipient))[0]?.code ?? null,
    requestMsMax: REQUEST_MS_MAX,
  });
  const random = new Random(seed);
  const stage: Stage = { house, random, history: load.history, now, goals: options.goals };
  const injections: Injection[] = [];
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  for (const fault of options.schedule(random)) {
    if (now() > options.seconds * 1000) break;
    const injection = await perform(stage, fault);
    injections.push(injection);
    say(lineOf(injection));
  }
  await load.stop();
  say('the faults are over, and the clients have stopped');
  const settled = await isSettled(house);
  const evidence = await readEvidence({
    database: house.db,
    simulator: house.simulator,
    history: load.history,
    now,
    attemptsMax: DELIVERY_ATTEMPTS,
    settled,
  });
  const settledInjections = await Promise.all(injections.map(whenSettled));
  const seconds = Math.round(now() / 1000);
  // The processes' last words count too.
  await house.stopProcesses();
  return {
    seed,
    seconds,
    clients: load.sends,
    requests: load.history.length,
    sends: evidence.rows.sends.length,
    messages: evidence.provider.messages.length,
    kills: house.ends.filter(({ killed }) => killed).length,
    killedAt: countsOf(house.ends.flatMap(({ point }) => point ?? [])),
    injections: settledInjections,
    violations: check(evidence),
    faults: [
      ...(settled ? [] : ['not everything came to rest in time after the last fault']),
      ...house.faults(),
      ...missedMedians(injections, options.goals),
      ...injections.flatMap(({ fault, missed }) => missed.map((goal) => `${fault}: ${goal}`)),
    ],
  };
}

/** Waits until nothing is due any more and the provider has nothing left to tell. */
async function isSettled(house: House): Promise<boolean> {
  const atRest = async (): Promise<boolean> => {
    const [left] = await house.db.sql<{ count: number }>(
      `select (select count(*) from sends where due_at is not null)::integer
         + (select count(*) from receipts where due_at is not null)::integer as count`,
    );
    return left?.count === 0 && (await house.simulator.webhooksUnanswered()) === 0;
  };
  return until('the rest', atRest, SETTLE_MS_MAX).catch(() => false);
}

function missedMedians(injections: readonly Injection[], { resumedMs: goal }: Goals): string[] {
  return [...new Set(injections.map(({ fault }) => fault))].flatMap((name) => {
    const all = injections
      .filter(({ fault }) => fault === name)
      .map(({ recovery }) => recovery.resumedMs ?? Infinity);
    const median = medianOf(all);
    return median > goal ? [`${name}: resumed after ${median} ms in the middle, goal ${goal}`] : [];
  });
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

async function whenSettled({ recovery, ...rest }: Injection): Promise<SettledInjection> {
  return { ...rest, recovery: { ...recovery, drainedMs: await recovery.drainedMs } };
}

function lineOf({ fault, lastedMs, recovery, seen, missed }: Injection): string {
  const facts = [
    `lasted ${lastedMs} ms`,
    `resumed after ${recovery.resumedMs ?? 'too many'} ms`,
    `${seen.answers} answers, ${seen.errors500} of them 5xx, ${seen.lost} lost`,
    `202 within ${seen.usual202Ms} ms, slowest ${seen.slowest202Ms} ms`,
    ...(seen.kills > 0 ? [`${seen.kills} kills`] : []),
    ...missed.map((goal) => `MISSED: ${goal}`),
    ...(recovery.story.length > 0 ? [`a fresh send: ${recovery.story.join(', ')}`] : []),
  ];
  return `${fault}: ${facts.join('; ')}`;
}
