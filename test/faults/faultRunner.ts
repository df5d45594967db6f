import type { ClientEvent } from './evidence.js';
import type { Fault } from './faults/fault.js';
import type { House } from './house/house.js';
import type { Random } from './load/plan.js';
import { untruths } from './readiness.js';
import { watchRecovery, type Recovery } from './recovery.js';

/** One fault that was injected, and what came of it. */
export interface Injection {
  fault: string;
  family: Fault['family'];
  lastedMs: number;
  recovery: Recovery;
  seen: Seen;
  /** Goals that were missed, in words. */
  missed: string[];
}

/** What clients and the provider saw from a fault's beginning until the house had come back. */
interface Seen {
  answers: number;
  errors500: number;
  /** 5xx that are not our own `internal_error`. */
  unclear: number;
  lost: number;
  /** Milliseconds within which 95 of 100 creations were answered with 202. */
  usual202Ms: number;
  /** Milliseconds of the slowest 202, and of the slowest answer of all. */
  slowest202Ms: number;
  slowestMs: number;
  attempts: number;
  unknownOutcomes: number;
  kills: number;
}

/** Goals, in milliseconds. */
export interface Goals {
  /** The median of a fault's injections. */
  resumedMs: number;
  /** Each of them: what is over the median is left to a machine on which everything starts at once. */
  resumedMsMax: number;
  /** What 95 of 100 creations take at the most while Redis is broken: the rest is left to a machine that does all of this at once. */
  redis202MsMax: number;
}

/** Waiting for a connection and for one statement, twice: the key's owner, then the request itself. */
const ANSWER_MS_MAX = 20_000;
/** How long the next fault waits for what this one has held up. */
const CALM_MS_MAX = 10_000;
/** How long a fault lasts before readiness has to tell of it. */
const NOTICED_MS = 1_500;

export interface Stage {
  house: House;
  random: Random;
  history: readonly ClientEvent[];
  now: () => number;
  goals: Goals;
}

/** Injects one fault, ends it, and watches the house come back. */
export async function perform(stage: Stage, fault: Fault): Promise<Injection> {
  const { house, random, now } = stage;
  const from = { at: now(), wall: new Date(), ends: house.ends.length };
  const end = await fault.inject(house, random);
  const wrong: string[] = [];
  if (fault.ready !== undefined && fault.holdMs > NOTICED_MS) {
    await wait(NOTICED_MS);
    wrong.push(...(await untruths(house, fault.ready)));
  }
  await wait(fault.holdMs - (now() - from.at));
  wrong.push(...((await end()) ?? []));
  const lastedMs = Math.round(now() - from.at);
  const recovery = await watchRecovery(house, from.wall);
  const seen = await see(stage, from);
  // So that what this fault left behind is not taken for the next one's doing.
  await Promise.race([recovery.drainedMs, wait(CALM_MS_MAX)]);
  return {
    fault: fault.name,
    family: fault.family,
    lastedMs,
    recovery,
    seen,
    missed: [...wrong, ...missedGoals(fault, recovery, seen, stage.goals)],
  };
}

function missedGoals(fault: Fault, { resumedMs }: Recovery, seen: Seen, goals: Goals): string[] {
  const missed: string[] = [];
  if (resumedMs === null || resumedMs > goals.resumedMsMax)
    missed.push(`resumed after ${resumedMs ?? 'too many'} ms, goal ${goals.resumedMsMax}`);
  // A process that has just started is slow by itself.
  if (fault.family === 'redis' && seen.kills === 0 && seen.usual202Ms > goals.redis202MsMax)
    missed.push(`95 of 100 creations took up to ${seen.usual202Ms} ms, goal ${goals.redis202MsMax}`);
  if (fault.answers === 'always' && seen.kills === 0 && seen.lost > 0)
    missed.push(`${seen.lost} requests were not answered`);
  if (seen.unclear > 0) missed.push(`${seen.unclear} answers were 5xx and not our own problem`);
  if (fault.answers === 'always' && seen.slowestMs > ANSWER_MS_MAX)
    missed.push(`an answer took ${seen.slowestMs} ms, goal ${ANSWER_MS_MAX}`);
  return missed;
}

async function see(
  { house, history, now }: Stage,
  from: { at: number; wall: Date; ends: number },
): Promise<Seen> {
  const until = now();
  const events = history.filter(({ startedAt }) => startedAt >= from.at && startedAt <= until);
  const took = ({ startedAt, endedAt }: ClientEvent): number => Math.round(endedAt - startedAt);
  const answered = events.filter(({ reply }) => reply.kind !== 'lost');
  const problems = events
    .map(({ reply }) => reply)
    .filter((reply) => reply.kind === 'problem')
    .filter(({ status }) => status >= 500);
  const accepted = events.filter(({ kind, reply }) => kind === 'create' && reply.kind === 'answer');
  const [row] = await house.db.sql<{ attempts: number; unknown: number }>(
    `select count(*)::integer as attempts, count(*) filter (where outcome = 'unknown')::integer as unknown
     from attempts where started_at >= $1`,
    [from.wall],
  );
  return {
    answers: answered.length,
    errors500: problems.length,
    unclear: problems.filter(({ status, code }) => status !== 500 || code !== 'internal_error').length,
    lost: events.length - answered.length,
    usual202Ms: accepted.map(took).toSorted((a, b) => a - b)[Math.floor(accepted.length * 0.95)] ?? 0,
    slowest202Ms: Math.max(0, ...accepted.map(took)),
    slowestMs: Math.max(0, ...answered.map(took)),
    attempts: row?.attempts ?? 0,
    unknownOutcomes: row?.unknown ?? 0,
    kills: house.ends.slice(from.ends).filter(({ killed }) => killed).length,
  };
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
