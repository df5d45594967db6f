import { mkdirSync, writeFileSync } from 'node:fs';
import { medianOf } from './recovery.js';
import type { RunResult, SettledInjection } from './run.js';

const ROOT = new URL('../../', import.meta.url);
const RESULTS = new URL('.data/faults/', ROOT);

/** By crash point: what must follow a kill there. The invariants say how it is checked. */
export const EXPECTED_OUTCOMES: Readonly<Record<string, string>> = {
  'api create before commit': 'no row, no unit, no idempotency key: the repeated request creates the send',
  'api create after commit':
    'one send and one charge; the sweeper enqueues it, and the repeated request gets it',
  'api create before answer': 'the same, with the job on its way',
  'api verify before commit': 'the guess is not judged',
  'api verify after commit': 'the guess is used up, and no second one gets valid: true',
  'api webhook before store': 'nothing is stored and nothing answered: the provider repeats the webhook',
  'api webhook after store': 'the receipt is applied; its repetition is ignored',
  'worker before claim': 'the send is enqueued again',
  'worker after claim': 'another worker takes over when the lease ends',
  'worker during call':
    'the outcome is unknown: the same code again at worst, settled by a receipt, and no refund by itself',
  'worker after call': 'the same, and the provider has certainly accepted the message',
  'worker after pause': 'the sender cools down, and another one gets the send when the lease ends',
  'worker after settle': 'everything is written: another job does nothing',
  'worker before receipt': 'the receipt is claimed again when its lease ends',
  'worker after receipt': 'the receipt is applied twice and counts once',
  'worker before provider change': 'the change is claimed again when its lease ends',
  'worker after provider change': 'the change is applied twice and counts once',
  'worker after reading': 'the reading is made again; nothing of it was kept',
  'worker before simulate': 'the test send is enqueued again',
  'worker before giving up': 'the next sweep fails the send and returns its unit once',
  'worker sweep before enqueue': 'the sends are enqueued three seconds later',
  'worker sweep after wake': 'the sweeper enqueues the send',
};

/** Writes a result as JSON into a folder that git ignores, one for each length and seed. @returns the file's path */
export function keepResult(result: RunResult, length: 'long' | 'short'): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = new URL(`${length}-${result.seed}.json`, RESULTS);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file.pathname;
}

/** A run in one sentence. */
export function summary(result: RunResult): string {
  const { seed, seconds, clients, requests, sends, messages, kills, injections, violations } = result;
  return (
    `Seed ${seed}: ${seconds} seconds, ${injections.length} faults and ${kills} kills; ` +
    `${clients} clients made ${requests} requests, which led to ${sends} sends and ${messages} messages; ` +
    `${violations.length} broken promises.`
  );
}

/** A Markdown table with a row for each fault, in the order of its family, or for each family. */
export function faultTable({ injections }: RunResult, by: 'fault' | 'family'): string {
  const groups = new Map<string, SettledInjection[]>();
  for (const injection of injections.toSorted((one, other) => one.family.localeCompare(other.family)))
    groups.set(injection[by], [...(groups.get(injection[by]) ?? []), injection]);
  const head = [by, 'times', 'observed', 'recovered after', 'drained after'];
  const rows = [...groups].map(([name, group]) => [
    name,
    String(group.length),
    observedIn(group),
    timesIn(group.map(({ recovery }) => recovery.resumedMs)),
    timesIn(group.map(({ recovery }) => recovery.drainedMs)),
  ]);
  return markdown(head, rows);
}

/** A Markdown table with a row for each crash point. */
export function crashPointTable({ killedAt }: RunResult): string {
  const rows = Object.entries(EXPECTED_OUTCOMES).map(([point, outcome]) => [
    point,
    String(killedAt[point] ?? 0),
    outcome,
  ]);
  return markdown(['crash point', 'kills', 'expected outcome'], rows);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function observedIn(group: readonly SettledInjection[]): string {
  const total = (read: (observed: SettledInjection['observed']) => number): number =>
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
