import { setTimeout as delay } from 'node:timers/promises';
import { residentMiBOf } from '../cpu.mjs';
import { median } from '../percentile.mjs';
import { reset } from './delivery.mjs';
import { pacedLoad } from './loads.mjs';
import { creations } from './requests.mjs';

/** @typedef {import('./suite.mjs').Bench} Bench */

const STARTS = 5;
const SENDS_A_SECOND = 500;
/** Requests of a long load; they come again, without idempotency keys. */
const REQUESTS_MAX = 30_000;
const LOOK_MS = 1_000;

/**
 * From `node` starting until the API says that it is ready.
 * @param {Bench} bench
 * @returns {Promise<{ who: string, startMs: number }[]>} medians
 */
export async function starts({ contenders }) {
  const found = [];
  for (const { name, startApi } of contenders) {
    const times = [];
    for (let start = 0; start < STARTS; start++) {
      const api = await startApi();
      times.push(api.startMs);
      await api.stop();
    }
    found.push({ who: name, startMs: median(times) });
  }
  return found;
}

/**
 * @typedef {object} Memory
 * @property {string} process
 * @property {number} mostMiB
 * @property {number} grewMiB from the second quarter of the time to the last, on average
 */

/**
 * What API and worker have in memory under a steady load of creations and deliveries.
 * @param {Bench} bench
 * @returns {Promise<Memory[]>}
 */
export async function memory({ house, options, contenders, provider, forget }) {
  const [ours] = contenders;
  if (ours === undefined) return [];
  await ours.clear();
  await reset(provider.url, 0);
  const [api, worker] = [await ours.startApi(), await ours.startWorker(provider.url, 50)];
  const seconds = options.minutes * 60;
  const requests = creations(ours.keys, Math.min(REQUESTS_MAX, SENDS_A_SECOND * seconds), false);
  const looks = /** @type {Record<'api' | 'worker', number[]>} */ ({ api: [], worker: [] });
  const end = new AbortController();
  const watch = async () => {
    while (!end.signal.aborted) {
      looks.api.push(residentMiBOf(api.pid));
      looks.worker.push(residentMiBOf(worker.pid));
      await delay(LOOK_MS, undefined, { signal: end.signal }).catch(() => {});
    }
  };
  const watched = watch();
  const target = { url: api.url, pids: { api: api.pid, worker: worker.pid } };
  await pacedLoad(house, target, { requests, perSecond: SENDS_A_SECOND, seconds });
  end.abort();
  await watched;
  await Promise.all([api.stop(), worker.stop()]);
  await ours.clear();
  await forget();
  return Object.entries(looks).map(([process, values]) => {
    const quarter = Math.ceil(values.length / 4);
    const mean = (/** @type {number[]} */ some) => some.reduce((sum, one) => sum + one, 0) / some.length;
    return {
      process,
      mostMiB: Math.max(...values),
      grewMiB: mean(values.slice(-quarter)) - mean(values.slice(quarter, 2 * quarter)),
    };
  });
}
