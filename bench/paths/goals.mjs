import { ratio } from './rounds.mjs';

/**
 * @typedef {import('./rounds.mjs').Row} Row
 *
 * @typedef {object} Goal
 * @property {string} what
 * @property {number} wanted
 * @property {'at least' | 'at most'} bound
 * @property {number} found
 * @property {boolean} met
 *
 * @typedef {object} Found  everything that was measured
 * @property {Row[]} rows
 * @property {{ who: string, startMs: number }[]} started
 * @property {import('./processes.mjs').Memory[]} used
 * @property {Awaited<ReturnType<typeof import('./growth.mjs').growth>>} grown
 * @property {number} minutes
 */

const OURS = 'Onecode';
const FLOOR = 'floor';
const STATUSES_A_SECOND = 10_000;
const RESIDENT_MIB_MAX = 150;
/** In less, a heap still grows to the size at which it stays. */
const FLAT_AFTER_MINUTES = 5;
const GREW_MIB_MAX = 10;
const START_MS_MAX = 1_000;
const GROWTH = 0.9;
/** Of all tables that grow with the sends: what is due, and nothing else. */
const IDLE_ROWS_MAX = 1;

/** Their rate is given, so it says nothing about growth. */
const PACED = new Set(['create, half load', 'request to provider, 200 a second']);

/** Against whom, and at least how many times as fast: [what, other, times]. */
const TIMES = /** @type {const} */ ([
  ['create', FLOOR, 1],
  ['create', 'better-auth', 2],
  ['create', 'Express + Prisma', 5],
  ['repeat', FLOOR, 0.7],
  ['status', FLOOR, 0.7],
  ['verify, right', FLOOR, 0.7],
  ['verify, wrong', FLOOR, 0.7],
  ['deliver, instant provider', FLOOR, 0.8],
  ['deliver, provider of 50 ms, 100 at once', FLOOR, 0.8],
]);

/**
 * What was measured beside the goals; a goal whose figures were not measured is left out.
 * @param {Found} found
 * @returns {Goal[]}
 */
export function judge({ rows, started, used, grown, minutes }) {
  const row = (/** @type {string} */ what, /** @type {string} */ who = OURS) =>
    rows.find((one) => one.what === what && one.who === who);
  const hot = row('create', `${OURS}, one hot account`);
  const paced = row('create, half load');
  const receipts = row('receipts, posts of 50');
  const applied = row('receipts, applied');
  const wait = row('request to provider, 200 a second');
  const start = started.find(({ who }) => who === OURS);
  return [
    ...TIMES.map(([what, other, times]) =>
      atLeast(`${what}: times ${other}`, times, between(row(what), row(what, other))),
    ),
    atMost(
      'create, half load: 99th percentile, times floor',
      1,
      between(paced, row('create, half load', FLOOR), 'p99Ms'),
    ),
    atLeast('create: one hot account, times 1,000 accounts', 0.9, between(hot, row('create'))),
    atLeast('receipts, posts of 50: a second', STATUSES_A_SECOND, receipts?.perSecond),
    atLeast('receipts, applied: a second', STATUSES_A_SECOND / 2, applied?.perSecond),
    atMost('request to provider: median ms', 10, wait?.medianMs),
    atMost('request to provider: 99th percentile ms', 50, wait?.p99Ms),
    ...rows
      .filter(({ what, who }) => who.endsWith(' rows') && !PACED.has(what))
      .map((filled) =>
        atLeast(`${filled.what}: ${filled.who}, times empty`, GROWTH, between(filled, row(filled.what))),
      ),
    atMost('rows that an idle worker reads a second', IDLE_ROWS_MAX, grown?.idleReads),
    ...used.map(({ process, mostMiB }) => atMost(`memory: ${process} MiB`, RESIDENT_MIB_MAX, mostMiB)),
    ...(minutes < FLAT_AFTER_MINUTES ? [] : used).map(({ process, grewMiB }) =>
      atMost(`memory: ${process} grew by MiB`, GREW_MIB_MAX, grewMiB),
    ),
    atMost('start: ms until ready', START_MS_MAX, start?.startMs),
  ].filter((goal) => goal !== null);
}

/**
 * @param {Row | undefined} one
 * @param {Row | undefined} other
 * @param {'perSecond' | 'p99Ms'} [figure]
 */
const between = (one, other, figure) => (one && other ? ratio(one, other, figure) : undefined);

/**
 * @param {string} what
 * @param {number} wanted
 * @param {number | undefined} found
 * @returns {Goal | null}
 */
const atLeast = (what, wanted, found) =>
  found === undefined ? null : { what, wanted, bound: 'at least', found, met: found >= wanted };

/**
 * @param {string} what
 * @param {number} wanted
 * @param {number | undefined} found
 * @returns {Goal | null}
 */
const atMost = (what, wanted, found) =>
  found === undefined ? null : { what, wanted, bound: 'at most', found, met: found <= wanted };
