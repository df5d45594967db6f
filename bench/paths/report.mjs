import { cpuRatio, ratio } from '../statistics.mjs';
import { BASELINE, BEFORE } from '../targets/target.mjs';
import { RETAINING, RETENTION } from './retention.mjs';
import { END_TO_END, REQUEST_TO_PROVIDER } from './worker.mjs';

/**
 * @typedef {import('../statistics.mjs').Row} Row
 * @typedef {import('../run.mjs').Line} Line
 *
 * @typedef {object} Goal
 * @property {string} name
 * @property {number} wanted
 * @property {'at least' | 'at most'} bound
 * @property {number} found
 * @property {boolean} met
 *
 * @typedef {object} Results  everything that was measured
 * @property {Row[]} rows
 * @property {import('./resources.mjs').FirstMinute | null} firstMinute
 * @property {{ target: string, startMs: number }[]} starts
 * @property {import('./resources.mjs').Memory[]} memory
 * @property {import('./resources.mjs').Growth | null} growth
 * @property {number} minutes for which memory was watched
 *
 * @typedef {(row: Row, other: Row) => number} Compare  the ratio of the first to the second
 */

const ONECODE = 'Onecode';
const RECEIPTS_PER_SECOND_MIN = 10_000;
const RESIDENT_MIB_MAX = 150;
/** In less time, a heap has not reached its final size. */
const FLAT_AFTER_MINUTES = 5;
const GROWN_MIB_MAX = 10;
const START_MS_MAX = 1_000;
const RETAINING_P99_RATIO_MAX = 1.2;
const FILLED_RATIO_MIN = 0.9;
/** Bytes in all tables that grow with the sends. */
const IDLE_ROWS_PER_SECOND_MAX = 1;

/** Measurements at a fixed rate, which is not compared with a filled database. */
const STEADY = new Set(['create, half load', REQUEST_TO_PROVIDER]);

/** Required speed relative to another target: [name, other target, ratio]. */
const RATIOS = /** @type {const} */ ([
  [END_TO_END, BASELINE, 1.5],
  ['create', BASELINE, 1.2],
  ['create', 'better-auth', 2],
  ['create', 'Express + Prisma', 5],
  ['repeat', BASELINE, 0.7],
  ['status', BASELINE, 0.7],
  ['verify, right', BASELINE, 1.1],
  ['verify, wrong', BASELINE, 1.1],
  ['deliver, instant provider', BASELINE, 1.1],
  ['deliver, provider of 50 ms, 100 at once', BASELINE, 1.1],
]);

/** Maximum processor time of a send end to end, relative to the baseline's. */
const CPU_RATIOS = { api: 0.72, worker: 0.86, postgres: 0.39 };
const WAL_BYTES_MAX = 5_000;
/** Maximum time from a request to the provider, relative to the baseline's. */
const TO_PROVIDER_RATIOS = /** @type {const} */ ([
  ['median', 'medianMs', 1.5],
  ['99th percentile', 'p99Ms', 2],
]);
const WORST_SECONDS_RATIO_MIN = 0.7;

/**
 * Compares the results with the goals. Goals without a measurement are omitted.
 * @param {Results} results
 * @returns {Goal[]}
 */
export function judge({ rows, firstMinute, starts, memory, growth, minutes }) {
  const row = (/** @type {string} */ name, /** @type {string} */ target = ONECODE) =>
    rows.find((each) => each.name === name && each.target === target);
  const timesBaseline = (/** @type {string} */ name, /** @type {Compare} */ compare) =>
    ratioOf(row(name), row(name, BASELINE), compare);
  const start = starts.find(({ target }) => target === ONECODE);
  return [
    ...RATIOS.map(([name, other, wanted]) =>
      atLeast(`${name}: times ${other}`, wanted, ratioOf(row(name), row(name, other))),
    ),
    ...Object.entries(CPU_RATIOS).map(([process, wanted]) =>
      atMost(
        `${END_TO_END}: ${process} µs, times ${BASELINE}`,
        wanted,
        timesBaseline(END_TO_END, (...both) => cpuRatio(...both, process)),
      ),
    ),
    atMost(`${END_TO_END}: bytes of WAL`, WAL_BYTES_MAX, row(END_TO_END)?.walBytes),
    ...TO_PROVIDER_RATIOS.map(([what, metric, wanted]) =>
      atMost(
        `${REQUEST_TO_PROVIDER}: ${what}, times ${BASELINE}`,
        wanted,
        timesBaseline(REQUEST_TO_PROVIDER, (...both) => ratio(...both, metric)),
      ),
    ),
    ...['create', 'create, half load'].map((name) =>
      atMost(
        `${name}: 99th percentile, times ${BASELINE}`,
        1,
        timesBaseline(name, (...both) => ratio(...both, 'p99Ms')),
      ),
    ),
    atLeast(
      'create: one hot account, times 1,000 accounts',
      0.9,
      ratioOf(row('create', `${ONECODE}, one hot account`), row('create')),
    ),
    atLeast(
      'receipts, posts of 50: a second',
      RECEIPTS_PER_SECOND_MIN,
      row('receipts, posts of 50')?.perSecond,
    ),
    atLeast('receipts, applied: a second', RECEIPTS_PER_SECOND_MIN / 2, row('receipts, applied')?.perSecond),
    ...rows
      .filter(({ name, target }) => target.endsWith(' rows') && !STEADY.has(name))
      .map((filled) =>
        atLeast(
          `${filled.name}: ${filled.target}, times empty`,
          FILLED_RATIO_MIN,
          ratioOf(filled, row(filled.name)),
        ),
      ),
    atMost(
      `${RETENTION}: 99th percentile while old sends go, times without`,
      RETAINING_P99_RATIO_MAX,
      ratioOf(row(RETENTION, RETAINING), row(RETENTION), (...both) => ratio(...both, 'p99Ms')),
    ),
    atMost(`${RETENTION}: failed while old sends go`, 0, failedOf(row(RETENTION, RETAINING))),
    atMost('rows that an idle worker reads a second', IDLE_ROWS_PER_SECOND_MAX, growth?.idleRowsPerSecond),
    ...memory.map(({ process, maxMiB }) => atMost(`memory: ${process} MiB`, RESIDENT_MIB_MAX, maxMiB)),
    ...(minutes < FLAT_AFTER_MINUTES ? [] : memory).map(({ process, grownMiB }) =>
      atMost(`memory: ${process} grew by MiB`, GROWN_MIB_MAX, grownMiB),
    ),
    atLeast(
      'first minute: worst three seconds, times steady rate',
      WORST_SECONDS_RATIO_MIN,
      firstMinute === null ? undefined : firstMinute.worstPerSecond / firstMinute.steadyPerSecond,
    ),
    atMost('start: ms until ready', START_MS_MAX, start?.startMs),
  ].filter((goal) => goal !== null);
}

/**
 * @param {Row | undefined} row
 * @param {Row | undefined} other
 * @param {Compare} [compare]
 */
const ratioOf = (row, other, compare = ratio) => row && other && compare(row, other);

/** @param {Row | undefined} row */
const failedOf = (row) => row?.rounds.reduce((sum, { failed = 0 }) => sum + failed, 0);

/**
 * @param {string} name
 * @param {number} wanted
 * @param {number | undefined} found
 * @returns {Goal | null}
 */
const atLeast = (name, wanted, found) =>
  found === undefined ? null : { name, wanted, bound: 'at least', found, met: found >= wanted };

/**
 * @param {string} name
 * @param {number} wanted
 * @param {number | undefined} found
 * @returns {Goal | null}
 */
export const atMost = (name, wanted, found) =>
  found === undefined ? null : { name, wanted, bound: 'at most', found, met: found <= wanted };

/**
 * @param {number} value
 * @param {number} digits
 */
const number = (value, digits) => (Number.isNaN(value) ? '–' : value.toFixed(digits));

/**
 * @param {readonly Goal[]} goals
 * @returns {Line[]}
 */
export const goalLines = (goals) =>
  goals.map(({ name, wanted, bound, found, met }) => ({
    goal: name,
    wanted: `${bound} ${wanted}`,
    found: number(found, found < 100 ? 2 : 0),
    '': met ? 'met' : 'missed',
  }));

/** The processes with a column for processor time, in this order. */
const PROCESSES = ['api', 'worker', 'postgres', 'redis', 'provider', 'load'];

/**
 * The measurements, each with its ratio to the baseline in the same rounds, and those of Onecode with their ratio to the build that
 * `--beside` names.
 * @param {readonly Row[]} rows
 * @returns {Line[]}
 */
function rowLines(rows) {
  const hasBefore = rows.some(({ target }) => target === BEFORE);
  return rows.map((row) => {
    const ratioTo = (/** @type {string} */ target, /** @type {Compare} */ compare = ratio) => {
      const name = target + variantOf(row.target);
      const other = rows.find((each) => each.name === row.name && each.target === name);
      return other === undefined ? '–' : number(compare(row, other), 2);
    };
    const toBefore = (/** @type {Compare} */ compare) =>
      row.target.startsWith(ONECODE) ? ratioTo(BEFORE, compare) : '';
    const cpu = PROCESSES.filter((process) => rows.some(({ cpuMs }) => process in cpuMs)).map((process) => {
      const ms = row.cpuMs[process];
      return [`${process} µs`, ms === undefined ? '' : number(ms * 1000, 0)];
    });
    return {
      what: `${row.name}: ${row.target}`,
      'a second': number(row.perSecond, 0),
      'median ms': number(row.medianMs, 1),
      'p99 ms': number(row.p99Ms, 1),
      [`× ${BASELINE}`]: ratioTo(BASELINE),
      ...(hasBefore && { [`× ${BEFORE}`]: toBefore(ratio) }),
      ...Object.fromEntries(cpu),
      'WAL kB': number(row.walBytes / 1000, 1),
      ...(hasBefore && {
        [`µs × ${BEFORE}`]: toBefore((...both) =>
          cpuRatio(...both, 'worker' in row.cpuMs ? 'worker' : 'api'),
        ),
      }),
    };
  });
}

/**
 * Returns the variant in a target's name, so that a hot account is compared with a hot account.
 * @param {string} target
 */
const variantOf = (target) => /, (one hot account|no idempotency key)$/.exec(target)?.[0] ?? '';

/**
 * Returns the tables of all measurements and of the goals.
 * @param {Results} results
 * @param {readonly Goal[]} goals
 * @returns {Line[][]}
 */
export function tablesOf({ rows, firstMinute, starts, memory, growth, minutes }, goals) {
  const sizes = (growth?.sizes ?? []).map(({ table, tableBytes, indexBytes }) => ({
    what: `bytes a send: ${table}`,
    table: number(tableBytes, 0),
    indexes: number(indexBytes, 0),
  }));
  /** @type {Line[][]} */
  const tables = [
    rowLines(rows),
    firstMinute === null
      ? []
      : [
          {
            what: 'first minute',
            'worst a second': number(firstMinute.worstPerSecond, 0),
            'steady a second': number(firstMinute.steadyPerSecond, 0),
            'sends at the end': String(firstMinute.sends),
          },
        ],
    starts.map(({ target, startMs }) => ({
      what: `start: ${target}`,
      'ms until ready': number(startMs, 0),
    })),
    memory.map(({ process, maxMiB, grownMiB }) => ({
      what: `memory of ${process}, ${minutes} min`,
      'most MiB': number(maxMiB, 0),
      'grew MiB': number(grownMiB, 1),
    })),
    growth === null
      ? []
      : [
          ...sizes,
          { what: 'rows that an idle worker reads a second', table: number(growth.idleRowsPerSecond, 0) },
        ],
    (growth?.workingSet.parts ?? []).map(({ name, bytes, ofBytes }) => ({
      what: `touched by ${growth?.workingSet.sends} sends: ${name}`,
      MB: number(bytes / 1e6, 1),
      'of MB': number(ofBytes / 1e6, 1),
    })),
    growth === null
      ? []
      : [
          {
            what: `vacuum of sends, ${growth.vacuum.deleted} of them deleted`,
            'postgres s': number(growth.vacuum.cpuMs / 1000, 1),
            'WAL MB': number(growth.vacuum.walBytes / 1e6, 0),
          },
        ],
    goalLines(goals),
  ];
  return tables.filter((lines) => lines.length > 0);
}
