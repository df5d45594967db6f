import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { AFTERMATH } from './aftermath.js';
import { INVARIANTS } from './check/check.js';
import { medianOf } from './recovery.js';
import type { RunResult, SettledInjection } from './run.js';

const ROOT = new URL('../../', import.meta.url);
const RESULTS = new URL('.data/faults/', ROOT);
const PAGE = new URL('docs/reliability.md', ROOT);
/** The page's table stands between these. */
const BEGIN = '<!-- the table of the fault suite -->';
const END = '<!-- the end of the table -->';

/** Keeps a result as JSON where git ignores it: one of each length and seed. @returns the file */
export function keepResult(result: RunResult, length: 'long' | 'short'): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = new URL(`${length}-${result.seed}.json`, RESULTS);
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
  return file.pathname;
}

/** Puts the tables of all long runs that are kept into docs/reliability.md. */
export function writePage(): void {
  const results = readdirSync(RESULTS)
    .filter((name) => name.startsWith('long-'))
    .map((name) => JSON.parse(readFileSync(new URL(name, RESULTS), 'utf8')) as RunResult);
  const page = readFileSync(PAGE, 'utf8');
  const [head, rest] = page.split(BEGIN);
  const tail = rest?.split(END)[1];
  if (head === undefined || tail === undefined)
    throw new Error(`${PAGE.pathname} has no place for the table`);
  const parts = [
    head + BEGIN,
    results.map((result) => `- ${summary(result)}`).join('\n'),
    table(results),
    'Killed at each crash point, and what has to come of it:',
    crashes(results),
    'The promises:',
    promises(),
    END + tail,
  ];
  writeFileSync(PAGE, parts.join('\n\n'));
}

/** What a run was, in one sentence. */
export function summary(result: RunResult): string {
  const { seed, seconds, clients, requests, sends, messages, kills, injections, violations } = result;
  return (
    `Seed ${seed}: ${seconds} seconds, ${injections.length} faults and ${kills} kills; ` +
    `${clients} clients made ${requests} requests, ${sends} sends and ${messages} messages came of them; ` +
    `${violations.length} broken promises.`
  );
}

/** A Markdown table with a row for each fault, in the order of its family. */
export function table(results: readonly RunResult[]): string {
  const injections = results.flatMap((result) => result.injections);
  const groups = new Map<string, SettledInjection[]>();
  for (const injection of injections.toSorted((one, other) => one.family.localeCompare(other.family)))
    groups.set(injection.fault, [...(groups.get(injection.fault) ?? []), injection]);
  const head = ['fault', 'times', 'seen', 'sends again after', 'nothing waits after'];
  const rows = [...groups].map(([fault, group]) => [
    fault,
    String(group.length),
    seenIn(group),
    times(group.map(({ recovery }) => recovery.resumedMs)),
    times(group.map(({ recovery }) => recovery.drainedMs)),
  ]);
  return markdown(head, rows);
}

/** A Markdown table with a row for each crash point. */
export function crashes(results: readonly RunResult[]): string {
  const rows = Object.entries(AFTERMATH).map(([point, then]) => [
    point,
    String(results.reduce((sum, { killedAt }) => sum + (killedAt[point] ?? 0), 0)),
    then,
  ]);
  return markdown(['crash point', 'kills', 'then'], rows);
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** A Markdown list of all that a run is held against. */
function promises(): string {
  return INVARIANTS.map(({ name, promise }) => `- \`${name}\`: ${promise}`).join('\n');
}

function seenIn(group: readonly SettledInjection[]): string {
  const total = (pick: (seen: SettledInjection['seen']) => number): number =>
    group.reduce((sum, { seen }) => sum + pick(seen), 0);
  const usual = Math.max(...group.map(({ seen }) => seen.usual202Ms));
  const slowest = Math.max(...group.map(({ seen }) => seen.slowest202Ms));
  return [
    [total(({ kills }) => kills), 'kills'],
    [total(({ errors500 }) => errors500), 'answers 5xx'],
    [total(({ lost }) => lost), 'answers lost'],
    [total(({ unknownOutcomes }) => unknownOutcomes), 'unknown outcomes'],
  ]
    .filter(([count]) => count !== 0)
    .map(([count, what]) => `${count} ${what}`)
    .concat(`202 within ${usual} ms, slowest ${slowest} ms`)
    .join(', ');
}

/** The median and the worst, in seconds. */
function times(all: readonly (number | null)[]): string {
  const known = all.map((ms) => ms ?? Infinity);
  const median = medianOf(known);
  const worst = Math.max(...known);
  const text = (ms: number): string =>
    ms === Infinity ? 'longer than watched' : `${(ms / 1000).toFixed(1)} s`;
  return median === worst ? text(median) : `${text(median)} – ${text(worst)}`;
}
