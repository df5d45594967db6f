import { medianOf } from './recovery.js';
import type { MeasuredInjection, RunResult } from './run.js';

/** A run in one sentence. */
export function summary(result: RunResult): string {
  const { seed, seconds, clients, history, sends, messages, kills, injections, violations } = result;
  return (
    `Seed ${seed}: ${seconds} seconds, ${injections.length} faults and ${kills} kills; ` +
    `${clients} clients made ${history.length} requests, which led to ${sends} sends and ${messages} messages; ` +
    `${violations.length} broken promises.`
  );
}

/** A Markdown table with a row for each fault, in the order of its family. */
export function faultTable({ injections }: RunResult): string {
  const groups = new Map<string, MeasuredInjection[]>();
  for (const injection of injections.toSorted((one, other) => one.family.localeCompare(other.family)))
    groups.set(injection.fault, [...(groups.get(injection.fault) ?? []), injection]);
  const head = ['fault', 'times', 'observed', 'recovered after', 'drained after'];
  const rows = [...groups].map(([fault, group]) => [
    fault,
    String(group.length),
    observedIn(group),
    timesIn(group.map(({ recovery }) => recovery.resumedMs)),
    timesIn(group.map(({ recovery }) => recovery.drainedMs)),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function observedIn(group: readonly MeasuredInjection[]): string {
  const total = (read: (observed: MeasuredInjection['observed']) => number): number =>
    group.reduce((sum, { observed }) => sum + read(observed), 0);
  const p95 = Math.max(...group.map(({ observed }) => observed.creationP95Ms));
  const slowest = Math.max(...group.map(({ observed }) => observed.slowestCreationMs));
  return [
    [total(({ kills }) => kills), 'kills'],
    [total(({ serverErrors }) => serverErrors), 'answers 5xx'],
    [total(({ lost }) => lost), 'answers lost'],
    [total(({ unknownOutcomes }) => unknownOutcomes), 'unknown outcomes'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, what]) => `${count} ${what}`)
    .concat(`95% of 202 within ${p95} ms, slowest ${slowest} ms`)
    .join(', ');
}

/** The median and the worst, in seconds. */
function timesIn(all: readonly (number | null)[]): string {
  const known = all.map((ms) => ms ?? Infinity);
  const median = medianOf(known);
  const worst = Math.max(...known);
  const text = (ms: number): string =>
    ms === Infinity ? 'longer than watched' : `${(ms / 1000).toFixed(1)} s`;
  return median === worst ? text(median) : `${text(median)} – ${text(worst)}`;
}
