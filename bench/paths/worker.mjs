import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { counted, pacedLoad } from './loads.mjs';
import { percentile } from '../percentile.mjs';
import { creations } from './requests.mjs';
import { compare } from './rounds.mjs';

/** @typedef {import('./suite.mjs').Bench} Bench */

const LOOK_MS = 20;
/** So many sends are made ready for each second. */
const PER_SECOND = 4_000;
/** Calls before the measurement begins: after so many, Node has compiled what a delivery uses. */
const FIRST = 8_000;
const SILENT_MS_MAX = 10_000;
const SENDS_A_SECOND = 200;
/** The worker is a new one in each round. At this rate it takes so long until Node has compiled what is used often. */
const WARM_UP_SECONDS = 30;
/** In three seconds, one pause of the machine that lasts 30 ms would be the 99th percentile. */
const STEADY_SECONDS_MIN = 15;

const SPEEDS = [
  { what: 'deliver, instant provider', delayMs: 0, concurrency: 50 },
  { what: 'deliver, provider of 50 ms, 100 at once', delayMs: 50, concurrency: 100 },
];

/**
 * One worker on a queue that is full.
 * @param {Bench} bench
 */
export async function deliver({ house, options, contenders, provider, forget }) {
  const rows = [];
  for (const { what, delayMs, concurrency } of SPEEDS) {
    const entries = contenders.map((contender) => ({
      who: contender.name,
      load: async (/** @type {number} */ seconds) => {
        await contender.clear();
        await reset(provider.url, delayMs);
        const total = FIRST + PER_SECOND * seconds;
        await contender.makeRung(total);
        const worker = await contender.startWorker(provider.url, concurrency);
        const figure = await watchCalls(house, provider, worker.pid, total, seconds);
        await worker.stop();
        await contender.clear();
        await forget();
        return figure;
      },
    }));
    rows.push(...(await compare(what, entries, options)));
  }
  return rows;
}

/**
 * @param {import('../run.mjs').House} house
 * @param {import('./service.mjs').Service} provider
 * @param {number} pid of the worker
 * @param {number} total sends that wait
 * @param {number} seconds
 * @returns {Promise<import('./rounds.mjs').Figure>}
 */
async function watchCalls(house, provider, pid, total, seconds) {
  const first = await untilCalls(provider.url, FIRST);
  const target = { url: '', pids: { worker: pid, provider: provider.pid } };
  const { played: last, cpuMs } = await counted(house, target, () =>
    untilCalls(provider.url, total - 100, first.at + seconds * 1000),
  );
  const calls = last.count - first.count;
  return {
    perSecond: calls / ((last.at - first.at) / 1000),
    medianMs: Number.NaN,
    p99Ms: Number.NaN,
    cpuMs: Object.fromEntries(Object.entries(cpuMs).map(([name, ms]) => [name, ms / calls])),
  };
}

/**
 * The time from a request to the provider's call, at a rate that is far from the limit.
 * @param {Bench} bench
 */
export function requestToCall({ house, options, contenders, provider, forget }) {
  const entries = contenders.map((contender) => ({
    who: contender.name,
    load: async (/** @type {number} */ wanted) => {
      const seconds = Math.max(wanted, STEADY_SECONDS_MIN);
      await contender.clear();
      await reset(provider.url, 0);
      const worker = await contender.startWorker(provider.url, 50);
      const requests = creations(contender.keys, SENDS_A_SECOND * seconds, true);
      const warm = creations(contender.keys, SENDS_A_SECOND * WARM_UP_SECONDS, true);
      const { api } = contender;
      const target = { url: api.url, pids: { api: api.pid, worker: worker.pid } };
      await pacedLoad(house, target, {
        requests: warm,
        perSecond: SENDS_A_SECOND,
        seconds: WARM_UP_SECONDS,
      });
      await untilCalls(provider.url, warm.length);
      const load = { requests, perSecond: SENDS_A_SECOND, seconds };
      const { played, figure } = await pacedLoad(house, target, load);
      await untilCalls(provider.url, requests.length + warm.length);
      const times = await waits(provider.url, requests, played.begun);
      await worker.stop();
      await forget();
      return { ...figure, medianMs: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
    },
  }));
  return compare('request to provider, 200 a second', entries, options);
}

/**
 * @param {string} url of the provider
 * @param {readonly import('./requests.mjs').Request[]} requests
 * @param {readonly number[]} begun
 * @returns {Promise<number[]>} milliseconds, in ascending order
 */
async function waits(url, requests, begun) {
  const arrivals = /** @type {Record<string, number>} */ (await (await fetch(`${url}/arrivals`)).json());
  return requests
    .map(
      ({ body }, place) =>
        (arrivals[JSON.parse(String(body)).to] ?? Number.NaN) - (begun[place] ?? Number.NaN),
    )
    .toSorted((a, b) => a - b);
}

/**
 * Waits until a provider has had so many calls, or for a time.
 * @param {string} url
 * @param {number} wanted
 * @param {number} [until] a time of `performance.now()`
 * @returns {Promise<{ count: number, at: number }>}
 */
async function untilCalls(url, wanted, until = Infinity) {
  let [seen, changedAt] = [-1, performance.now()];
  for (;;) {
    const { body } = await request(`${url}/count`);
    const { count } = /** @type {{ count: number }} */ (await body.json());
    const at = performance.now();
    if (count >= wanted || at >= until) return { count, at };
    if (count !== seen) [seen, changedAt] = [count, at];
    if (at - changedAt > SILENT_MS_MAX)
      throw new Error(`The provider waits for calls: it had ${count} of ${wanted}.`);
    await delay(LOOK_MS);
  }
}

/**
 * @param {string} url
 * @param {number} delayMs
 */
export async function reset(url, delayMs) {
  const { body } = await request(`${url}/reset?delay=${delayMs}`, { method: 'POST' });
  await body.dump();
}
