import { until } from '@onecode/testing';
import { check } from './check/check.js';
import { readEvidence } from './check/readEvidence.js';
import { runFault, type FaultContext, type Goals, type Injection } from './faultRunner.js';
import type { ClientEvent, Violation } from './evidence.js';
import type { Fault } from './faults/fault.js';
import { DELIVERY_ATTEMPTS, FaultCluster } from './cluster/faultCluster.js';
import { buildCallers, startLoad } from './load/load.js';
import { Random } from './load/plan.js';
import { medianOf, untilMs } from './recovery.js';

export interface RunOptions {
  seed: number;
  accounts: number;
  sendsPerSecond: number;
  /** The load continues after the last fault until this many clients have started. */
  clientsMin: number;
  goals: Goals;
  /** The faults in order, drawn from the seed. The run ends with the last one or after `seconds`. */
  schedule: (random: Random) => Iterable<Fault>;
  seconds: number;
  /** Called with the outcome of each injection. */
  log: (line: string) => void;
}

/** What a run found. */
export interface RunResult {
  seed: number;
  seconds: number;
  clients: number;
  history: readonly ClientEvent[];
  sends: number;
  messages: number;
  kills: number;
  injections: MeasuredInjection[];
  violations: Violation[];
  /** Unexpected exits, errors that no outage explains, and missed goals. */
  problems: string[];
}

/** An injection with a known `drainedMs`. */
export type MeasuredInjection = Omit<Injection, 'recovery'> & {
  recovery: Omit<Injection['recovery'], 'drainedMs'> & { drainedMs: number | null };
};

/** Short, so that some codes expire before they can be sent. */
const CODE_VALIDITY_SECONDS = 60;
const LOAD_MS_MAX = 300_000;
const SETTLE_MS_MAX = 150_000;
const SETTLE_POLL_MS = 250;
/** Longer than the API may take, so that a hanging API is noticed. */
const REQUEST_MS_MAX = 25_000;
const WARM_UP_MS = 2_000;

/** Starts a cluster and a load, injects one fault after another and checks the evidence for violations. */
export async function runFaults(options: RunOptions): Promise<RunResult> {
  const cluster = await FaultCluster.start();
  try {
    return await runOn(cluster, options);
  } finally {
    await cluster.close();
  }
}

async function runOn(cluster: FaultCluster, options: RunOptions): Promise<RunResult> {
  const { seed, log } = options;
  const startedAt = performance.now();
  const now = (): number => performance.now() - startedAt;
  await cluster.db.sql('update settings set code_validity_seconds = $1', [CODE_VALIDITY_SECONDS]);
  const load = startLoad({
    apiUrls: () => cluster.apiUrls,
    callers: await buildCallers(cluster.db, options.accounts),
    seed,
    sendsPerSecond: options.sendsPerSecond,
    now,
    codeOf: async (recipient) => (await cluster.simulator.messages(recipient))[0]?.code ?? null,
    requestMsMax: REQUEST_MS_MAX,
  });
  const random = new Random(seed);
  const context: FaultContext = { cluster, random, history: load.history, now, goals: options.goals };
  const injections: Injection[] = [];
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
  for (const fault of options.schedule(random)) {
    if (now() > options.seconds * 1000) break;
    const injection = await runFault(context, fault);
    injections.push(injection);
    log(lineOf(injection));
  }
  await until('the clients', () => load.sends >= options.clientsMin, LOAD_MS_MAX);
  await load.stop();
  log('the faults are over, and the clients have stopped');
  const finished = await isFinished(cluster);
  const evidence = await readEvidence({
    database: cluster.db,
    simulator: cluster.simulator,
    history: load.history,
    now,
    attemptsMax: DELIVERY_ATTEMPTS,
    finished,
  });
  const measuredInjections = await Promise.all(injections.map(measureRecovery));
  const seconds = Math.round(now() / 1000);
  // What the processes log while they stop counts too.
  await cluster.stopProcesses();
  return {
    seed,
    seconds,
    clients: load.sends,
    history: load.history,
    sends: evidence.rows.sends.length,
    messages: evidence.provider.messages.length,
    kills: cluster.exits.filter(({ killed }) => killed).length,
    injections: measuredInjections,
    violations: check(evidence),
    problems: [
      ...(finished ? [] : ['some work was not finished in time after the last fault']),
      ...cluster.problems(),
      ...missedMedians(injections),
      ...injections.flatMap(({ fault, missed }) => missed.map((goal) => `${fault}: ${goal}`)),
    ],
  };
}

/** Waits until nothing is due and every webhook of the provider is answered. */
async function isFinished(cluster: FaultCluster): Promise<boolean> {
  const isIdle = async (): Promise<boolean> => {
    const [left] = await cluster.db.sql<{ count: number }>(
      `select (select count(*) from sends where due_at is not null)::integer
         + (select count(*) from provider_reports)::integer as count`,
    );
    return left?.count === 0 && (await cluster.simulator.webhooksUnanswered()) === 0;
  };
  const startedAt = performance.now();
  const watch = { watchedMs: SETTLE_MS_MAX, pollMs: SETTLE_POLL_MS };
  return (await untilMs(() => performance.now() - startedAt, isIdle, watch)) !== null;
}

function missedMedians(injections: readonly Injection[]): string[] {
  return [...new Set(injections.map(({ fault }) => fault))].flatMap((name) => {
    const all = injections.filter(({ fault }) => fault === name);
    const median = medianOf(all.map(({ recovery }) => recovery.resumedMs ?? Infinity));
    const goal = Math.max(...all.map(({ medianGoalMs }) => medianGoalMs));
    return median > goal ? [`${name}: recovered after ${median} ms in the median, goal ${goal}`] : [];
  });
}

async function measureRecovery({ recovery, ...rest }: Injection): Promise<MeasuredInjection> {
  return { ...rest, recovery: { ...recovery, drainedMs: await recovery.drainedMs } };
}

function lineOf({ fault, lastedMs, recovery, observed, missed }: Injection): string {
  const facts = [
    `lasted ${lastedMs} ms`,
    `recovered after ${recovery.resumedMs ?? 'too many'} ms`,
    `${observed.answers} answers, ${observed.serverErrors} of them 5xx, ${observed.lost} lost`,
    `95% of 202 within ${observed.creationP95Ms} ms, slowest ${observed.slowestCreationMs} ms`,
    ...(observed.kills > 0 ? [`${observed.kills} kills`] : []),
    ...missed.map((goal) => `MISSED: ${goal}`),
  ];
  return `${fault}: ${facts.join('; ')}`;
}
