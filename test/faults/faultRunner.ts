import type { ClientEvent } from './evidence.js';
import type { Fault } from './faults/fault.js';
import type { FaultCluster } from './cluster/faultCluster.js';
import type { SupervisedProcess } from './cluster/supervisedProcess.js';
import type { Random } from './load/plan.js';
import { watchRecovery, type Recovery } from './recovery.js';

/** One injected fault and its outcome. */
export interface Injection {
  fault: string;
  family: Fault['family'];
  lastedMs: number;
  recovery: Recovery;
  observed: Observed;
  /** The maximum for the median of this fault's recoveries. */
  medianGoalMs: number;
  /** The goals that were missed, in words. */
  missed: string[];
}

/** What clients and the provider observed from the start of a fault until the cluster had recovered. */
interface Observed {
  answers: number;
  /** Answers with a status of 5xx. */
  serverErrors: number;
  /** Server errors other than 500 `internal_error`. */
  unexpectedErrors: number;
  /** Requests without an answer. */
  lost: number;
  /** The 95th percentile of creations that were answered with 202. */
  creationP95Ms: number;
  slowestCreationMs: number;
  /** The slowest answer of all. */
  slowestMs: number;
  unknownOutcomes: number;
  kills: number;
}

/** Upper limits in milliseconds. */
export interface Goals {
  /** For the median recovery of a fault's injections. */
  recoveryMedianMs: number;
  /** Time limit of each recovery. It is long because everything restarts at once on one machine. */
  recoveryMs: number;
  /** For the 95th percentile of creations during a Redis fault. */
  redisCreationP95Ms: number;
}

/** Two waits for a connection and two for a statement: for the key and for the request itself. */
const ANSWER_MS_MAX = 20_000;
/** How long the next fault waits for the work that this one has delayed. */
const DRAIN_MS_MAX = 10_000;
/** How long a fault lasts before `/readyz` is asked. */
const NOTICED_MS = 1_500;
/** The time after which `/readyz` must show it, on a busy machine. */
const NOTICED_MS_MAX = 10_000;
const READINESS_MS_MAX = 5_000;

export interface FaultContext {
  cluster: FaultCluster;
  random: Random;
  history: readonly ClientEvent[];
  now: () => number;
  goals: Goals;
}

/** Injects one fault, ends it and watches the recovery. */
export async function runFault(context: FaultContext, fault: Fault): Promise<Injection> {
  const { cluster, random, now } = context;
  const undo = await fault.prepare?.(cluster);
  const start = { at: now(), date: new Date(), exits: cluster.exits.length };
  const end = await fault.inject(cluster, random);
  const problems: string[] = [];
  if (fault.ready !== undefined && fault.holdMs > NOTICED_MS) {
    await wait(NOTICED_MS);
    problems.push(...(await readinessProblems(cluster, fault.ready)));
  }
  await wait(fault.holdMs - (now() - start.at));
  problems.push(...((await end()) ?? []));
  const lastedMs = Math.round(now() - start.at);
  const recovery = await watchRecovery(cluster, start.date);
  const observed = await observe(context, start);
  // Otherwise delayed work would count as an effect of the next fault.
  await Promise.race([recovery.drainedMs, wait(DRAIN_MS_MAX)]);
  await undo?.();
  return {
    fault: fault.name,
    family: fault.family,
    medianGoalMs: Math.max(fault.recoveryMs ?? 0, context.goals.recoveryMedianMs),
    lastedMs,
    recovery,
    observed,
    missed: [...problems, ...missedGoals(fault, recovery, observed, context.goals)],
  };
}

function missedGoals(fault: Fault, { resumedMs }: Recovery, observed: Observed, goals: Goals): string[] {
  const missed: string[] = [];
  const recoveryMs = Math.max(fault.recoveryMs ?? 0, goals.recoveryMs);
  if (resumedMs === null || resumedMs > recoveryMs)
    missed.push(`recovered after ${resumedMs ?? 'too many'} ms, goal ${recoveryMs}`);
  // A process that has just started is slow without any fault.
  if (fault.family === 'redis' && observed.kills === 0 && observed.creationP95Ms > goals.redisCreationP95Ms)
    missed.push(
      `95 of 100 creations took up to ${observed.creationP95Ms} ms, goal ${goals.redisCreationP95Ms}`,
    );
  if (fault.answers === 'always' && observed.kills === 0 && observed.lost > 0)
    missed.push(`${observed.lost} requests were not answered`);
  if (observed.unexpectedErrors > 0)
    missed.push(`${observed.unexpectedErrors} answers were 5xx other than internal_error`);
  if (fault.answers === 'always' && observed.slowestMs > ANSWER_MS_MAX)
    missed.push(`an answer took ${observed.slowestMs} ms, goal ${ANSWER_MS_MAX}`);
  return missed;
}

async function observe(
  { cluster, history, now }: FaultContext,
  start: { at: number; date: Date; exits: number },
): Promise<Observed> {
  const until = now();
  const events = history.filter(({ startedAt }) => startedAt >= start.at && startedAt <= until);
  const durationMs = ({ startedAt, endedAt }: ClientEvent): number => Math.round(endedAt - startedAt);
  const answered = events.filter(({ reply }) => reply.kind !== 'lost');
  const problems = events
    .map(({ reply }) => reply)
    .filter((reply) => reply.kind === 'problem')
    .filter(({ status }) => status >= 500);
  const accepted = events.filter(({ kind, reply }) => kind === 'create' && reply.kind === 'answer');
  const [row] = await cluster.db.sql<{ unknown: number }>(
    `select count(*)::integer as unknown from attempts where started_at >= $1 and outcome = 'unknown'`,
    [start.date],
  );
  return {
    answers: answered.length,
    serverErrors: problems.length,
    unexpectedErrors: problems.filter(({ status, code }) => status !== 500 || code !== 'internal_error')
      .length,
    lost: events.length - answered.length,
    creationP95Ms:
      accepted.map(durationMs).toSorted((a, b) => a - b)[Math.floor(accepted.length * 0.95)] ?? 0,
    slowestCreationMs: Math.max(0, ...accepted.map(durationMs)),
    slowestMs: Math.max(0, ...answered.map(durationMs)),
    unknownOutcomes: row?.unknown ?? 0,
    kills: cluster.exits.slice(start.exits).filter(({ killed }) => killed).length,
  };
}

/** Asks every running process for its readiness, without a proxy. @returns the answers that are not as expected, in words */
async function readinessProblems(
  cluster: FaultCluster,
  expected: { apis?: boolean; workers?: boolean },
): Promise<string[]> {
  const problems = await Promise.all([
    ...cluster.apis.map((api) => readinessProblem(api, expected.apis)),
    ...cluster.workers.map((worker) => readinessProblem(worker, expected.workers)),
  ]);
  return problems.flat();
}

async function readinessProblem(
  process: SupervisedProcess,
  isExpected: boolean | undefined,
): Promise<string[]> {
  if (isExpected === undefined) return [];
  const wanted = isExpected ? 'ready' : 'not ready';
  const latest = performance.now() + NOTICED_MS_MAX;
  for (;;) {
    if (!process.isReady) return [];
    const actual = await readinessOf(process);
    if (actual === wanted) return [];
    if (performance.now() > latest) return [`/readyz of ${process.name}: ${actual} instead of ${wanted}`];
    await wait(100);
  }
}

const readinessOf = (process: SupervisedProcess): Promise<'ready' | 'not ready' | 'no answer'> =>
  fetch(`http://127.0.0.1:${process.metricsPort}/readyz`, {
    signal: AbortSignal.timeout(READINESS_MS_MAX),
  }).then(
    ({ status }) => (status === 200 ? 'ready' : 'not ready'),
    () => 'no answer',
  );

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
