import { median } from '../percentile.mjs';

/**
 * @typedef {object} Figure  one load
 * @property {number} perSecond
 * @property {number} medianMs not a number where no time of a single request is known
 * @property {number} p99Ms
 * @property {Record<string, number>} cpuMs a request, by process
 *
 * @typedef {object} Entry  one of those that are compared
 * @property {string} who
 * @property {(seconds: number) => Promise<Figure>} load
 *
 * @typedef {object} Row  medians of the rounds
 * @property {string} what
 * @property {string} who
 * @property {number} perSecond
 * @property {number} medianMs
 * @property {number} p99Ms
 * @property {Record<string, number>} cpuMs
 * @property {Figure[]} rounds
 */

/** A load before the first round, so that no round pays for compiling and for plans that are not made yet. */
const WARM_UP_SECONDS = 2;

/**
 * Measures each in its turn, again and again, so that what else the machine does meets all of them alike.
 * @param {string} what
 * @param {readonly Entry[]} entries
 * @param {{ rounds: number, seconds: number }} options
 * @returns {Promise<Row[]>}
 */
export async function compare(what, entries, { rounds, seconds }) {
  const measured = entries.map(({ who, load }) => ({ who, load, figures: /** @type {Figure[]} */ ([]) }));
  for (const { load } of measured) await load(WARM_UP_SECONDS);
  for (let round = 0; round < rounds; round++)
    for (const { load, figures } of measured) figures.push(await load(seconds));
  return measured.map(({ who, figures }) => rowOf(what, who, figures));
}

/**
 * @param {string} what
 * @param {string} who
 * @param {Figure[]} rounds
 * @returns {Row}
 */
function rowOf(what, who, rounds) {
  const of = (/** @type {(figure: Figure) => number} */ read) => median(rounds.map(read));
  const processes = Object.keys(rounds[0]?.cpuMs ?? {});
  return {
    what,
    who,
    perSecond: of(({ perSecond }) => perSecond),
    medianMs: of(({ medianMs }) => medianMs),
    p99Ms: of(({ p99Ms }) => p99Ms),
    cpuMs: Object.fromEntries(processes.map((name) => [name, of(({ cpuMs }) => cpuMs[name] ?? 0)])),
    rounds,
  };
}

/**
 * How one compares with another: the median of the rounds' own ratios, since a round's two loads are close in time.
 * @param {Row} one
 * @param {Row} other measured in the same rounds
 * @param {'perSecond' | 'p99Ms'} [figure]
 * @returns {number}
 */
export function ratio(one, other, figure = 'perSecond') {
  return median(
    one.rounds.map((round, place) => round[figure] / (other.rounds[place]?.[figure] ?? Number.NaN)),
  );
}
