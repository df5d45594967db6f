/**
 * @typedef {object} Measurement  of one load
 * @property {number} perSecond
 * @property {number} medianMs NaN where the time of a single request is unknown
 * @property {number} p99Ms
 * @property {Record<string, number>} cpuMs of one request, by process
 * @property {number} walBytes of one request, what PostgreSQL wrote to its write-ahead log
 * @property {number} [failed] requests that were refused or not answered
 * @property {number[]} [inSecond] at full speed: how many requests were answered in each second
 *
 * @typedef {object} Candidate  one of those that are compared
 * @property {string} target
 * @property {(seconds: number) => Promise<Measurement>} load
 *
 * @typedef {object} Row  the medians of all rounds
 * @property {string} name of what was measured
 * @property {string} target
 * @property {number} perSecond
 * @property {number} medianMs
 * @property {number} p99Ms
 * @property {Record<string, number>} cpuMs
 * @property {number} walBytes
 * @property {Measurement[]} rounds
 */

/**
 * Measures all candidates in turn, round after round, so that other work on the machine affects all of them equally. Every second round
 * runs in reverse order, so that a candidate's position in the round has no effect either.
 * @param {string} name
 * @param {readonly Candidate[]} candidates
 * @param {{ rounds: number, seconds: number }} options
 * @returns {Promise<Row[]>}
 */
export async function compare(name, candidates, { rounds, seconds }) {
  const measured = candidates.map((candidate) => ({
    ...candidate,
    measurements: /** @type {Measurement[]} */ ([]),
  }));
  for (let round = 0; round < rounds; round++)
    for (const { load, measurements } of round % 2 === 0 ? measured : measured.toReversed())
      measurements.push(await load(seconds));
  return measured.map(({ target, measurements }) => buildRow(name, target, measurements));
}

/**
 * @param {string} name
 * @param {string} target
 * @param {Measurement[]} rounds
 * @returns {Row}
 */
function buildRow(name, target, rounds) {
  const medianOf = (/** @type {(measurement: Measurement) => number} */ read) => median(rounds.map(read));
  const processes = Object.keys(rounds[0]?.cpuMs ?? {});
  return {
    name,
    target,
    perSecond: medianOf(({ perSecond }) => perSecond),
    medianMs: medianOf(({ medianMs }) => medianMs),
    p99Ms: medianOf(({ p99Ms }) => p99Ms),
    cpuMs: Object.fromEntries(
      processes.map((process) => [process, medianOf(({ cpuMs }) => cpuMs[process] ?? 0)]),
    ),
    walBytes: medianOf(({ walBytes }) => walBytes),
    rounds,
  };
}

/**
 * Compares one row with another: the median of the rounds' ratios, because the loads of one round are close in time.
 * @param {Row} row
 * @param {Row} other measured in the same rounds
 * @param {'perSecond' | 'medianMs' | 'p99Ms'} [metric]
 * @returns {number}
 */
export function ratio(row, other, metric = 'perSecond') {
  return median(
    row.rounds.map((round, index) => round[metric] / (other.rounds[index]?.[metric] ?? Number.NaN)),
  );
}

/**
 * Compares the processor time of one row's process with another row's, like `ratio`.
 * @param {Row} row
 * @param {Row} other measured in the same rounds
 * @param {string} process
 * @returns {number} NaN for a process that takes no part
 */
export function cpuRatio(row, other, process) {
  return median(
    row.rounds.map(
      ({ cpuMs }, index) =>
        (cpuMs[process] ?? Number.NaN) / (other.rounds[index]?.cpuMs[process] ?? Number.NaN),
    ),
  );
}

/**
 * @param {readonly number[]} sorted in ascending order
 * @param {number} fraction 0.99 for the 99th percentile
 * @returns {number} NaN for an empty list
 */
export function percentile(sorted, fraction) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

/**
 * @param {readonly number[]} values
 * @returns {number}
 */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? Number(sorted[middle])
    : (Number(sorted[middle - 1]) + Number(sorted[middle])) / 2;
}
