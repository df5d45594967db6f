import { BEFORE } from './contender.mjs';
import { ratio } from './rounds.mjs';

/**
 * @typedef {import('./rounds.mjs').Row} Row
 * @typedef {import('../table.mjs').Line} Line
 */

/**
 * @param {number} value
 * @param {number} digits
 */
const number = (value, digits) => (Number.isNaN(value) ? '–' : value.toFixed(digits));

/** Whose processor time is shown, in this order. */
const PROCESSES = ['api', 'worker', 'postgres', 'redis', 'provider', 'load'];

/**
 * The figures, each with its ratio to the floor of the same rounds, and ours with their ratio to ours as it was.
 * @param {readonly Row[]} rows
 * @returns {Line[]}
 */
export function rowLines(rows) {
  const isBeside = rows.some(({ who }) => who === BEFORE);
  return rows.map((row) => {
    const ratioTo = (/** @type {string} */ name) => {
      const other = rows.find(({ what, who }) => what === row.what && who === name + variantOf(row.who));
      return other === undefined ? '–' : number(ratio(row, other), 2);
    };
    const cpu = PROCESSES.filter((name) => rows.some(({ cpuMs }) => name in cpuMs)).map((name) => {
      const ms = row.cpuMs[name];
      return [`${name} µs`, ms === undefined ? '' : number(ms * 1000, 0)];
    });
    return {
      what: `${row.what}: ${row.who}`,
      'a second': number(row.perSecond, 0),
      'median ms': number(row.medianMs, 1),
      'p99 ms': number(row.p99Ms, 1),
      '× floor': ratioTo('floor'),
      ...(isBeside && { [`× ${BEFORE}`]: row.who.startsWith('Onecode') ? ratioTo(BEFORE) : '' }),
      ...Object.fromEntries(cpu),
    };
  });
}

/**
 * What the same thing is called of another: a hot account is compared with a hot account.
 * @param {string} who
 */
const variantOf = (who) => /, (one hot account|no idempotency key)$/.exec(who)?.[0] ?? '';

/**
 * @param {readonly { who: string, startMs: number }[]} started
 * @returns {Line[]}
 */
export const startLines = (started) =>
  started.map(({ who, startMs }) => ({ what: `start: ${who}`, 'ms until ready': number(startMs, 0) }));

/**
 * @param {readonly import('./processes.mjs').Memory[]} used
 * @param {number} minutes
 * @returns {Line[]}
 */
export const memoryLines = (used, minutes) =>
  used.map(({ process, mostMiB, grewMiB }) => ({
    what: `memory of ${process}, ${minutes} min`,
    'most MiB': number(mostMiB, 0),
    'grew MiB': number(grewMiB, 1),
  }));

/**
 * @param {Awaited<ReturnType<typeof import('./growth.mjs').growth>>} grown
 * @returns {Line[]}
 */
export function growthLines(grown) {
  if (grown === null) return [];
  const sizes = grown.sizes.map(({ table, tableBytes, indexBytes }) => ({
    what: `bytes a send: ${table}`,
    table: number(tableBytes, 0),
    indexes: number(indexBytes, 0),
  }));
  return [...sizes, { what: 'rows that an idle worker reads a second', table: number(grown.idleReads, 0) }];
}

/**
 * @param {readonly import('./goals.mjs').Goal[]} goals
 * @returns {Line[]}
 */
export const goalLines = (goals) =>
  goals.map(({ what, wanted, bound, found, met }) => ({
    goal: what,
    wanted: `${bound} ${wanted}`,
    found: number(found, found < 100 ? 2 : 0),
    '': met ? 'met' : 'missed',
  }));
