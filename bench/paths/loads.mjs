import { cpuMsOf } from '../cpu.mjs';
import { playAll, playPaced } from '../load/play.mjs';

/**
 * @typedef {import('../load/plan.mjs').Request} Request
 * @typedef {import('../load/play.mjs').Played} Played
 *
 * @typedef {object} Target  what a load goes to
 * @property {string} url
 * @property {Record<string, number>} pids processes whose time is counted, by name
 */

/** So many requests a second are made ready at first; there are more the next time where that was too few. */
const PER_SECOND = 5_000;
const FAILED_PART_MAX = 0.001;

/**
 * A source of loads at full speed to one target, which knows from the earlier ones how many requests a second are needed.
 * @param {import('../run.mjs').House} house
 * @param {Target} target
 * @param {object} load
 * @param {(count: number) => Promise<Request[]> | Request[]} load.requests
 * @param {boolean} [load.again] whether a request may be sent more than once
 * @param {number} [load.each] how many of what is counted one request holds
 * @param {() => Promise<void>} [load.after] what to do after each
 * @returns {(seconds: number) => Promise<import('./rounds.mjs').Figure>}
 */
export function fullLoad(house, target, { requests, again = false, each = 1, after = async () => {} }) {
  let perSecond = PER_SECOND / each;
  return async (seconds) => {
    for (;;) {
      const ready = await requests(Math.ceil(perSecond * seconds));
      const { played, cpuMs } = await counted(house, target, () =>
        playAll(house.processes, { url: target.url, seconds, requests: ready }),
      );
      await after();
      if (!played.exhausted || again) {
        perSecond = Math.max(perSecond, (1.5 * played.requests) / played.seconds);
        return figureOf(played, cpuMs, each);
      }
      perSecond *= 2;
    }
  };
}

/**
 * A load at a steady rate.
 * @param {import('../run.mjs').House} house
 * @param {Target} target
 * @param {{ requests: Request[], perSecond: number, seconds: number }} load
 */
export async function pacedLoad(house, target, load) {
  const { played, cpuMs } = await counted(house, target, () =>
    playPaced(house.processes, { url: target.url, ...load }),
  );
  return { played, figure: figureOf(played, cpuMs, 1) };
}

/**
 * Does something, and counts the processor time that a target's processes and the services use meanwhile.
 * @template T
 * @param {import('../run.mjs').House} house
 * @param {Target} target
 * @param {() => Promise<T>} work
 * @returns {Promise<{ played: T, cpuMs: Record<string, number> }>} milliseconds by process
 */
export async function counted(house, { pids }, work) {
  const all = { ...pids, postgres: house.postgres, redis: house.redis };
  const look = () => Object.entries(all).map(([name, pid]) => ({ name, used: cpuMsOf([pid]) }));
  const before = look();
  const played = await work();
  const cpuMs = look().map(({ name, used }, place) => [name, used - (before[place]?.used ?? 0)]);
  return { played, cpuMs: Object.fromEntries(cpuMs) };
}

/**
 * @param {Played} played
 * @param {Record<string, number>} cpuMs
 * @param {number} each
 * @returns {import('./rounds.mjs').Figure}
 */
function figureOf({ requests, seconds, medianMs, p99Ms, failed, cpuMs: load }, cpuMs, each) {
  if (failed > requests * FAILED_PART_MAX)
    throw new Error(`${failed} of ${requests} requests were refused or not answered.`);
  const a = (/** @type {number} */ ms) => ms / (requests * each);
  const processes = { ...cpuMs, load };
  return {
    perSecond: (requests * each) / seconds,
    medianMs,
    p99Ms,
    cpuMs: Object.fromEntries(Object.entries(processes).map(([name, ms]) => [name, a(ms)])),
  };
}
