import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { fullLoad, steadyLoad, usageOfOne, withUsage } from '../load/load.mjs';
import { compare, percentile } from '../statistics.mjs';
import { creations, RECEIPT_STATUSES, REPORTS_PER_POST, webhooks } from '../targets/target.mjs';

/** The paths of a worker: deliveries, the application of stored receipts, and both for sends created at the same time. */

/**
 * @typedef {import('./suite.mjs').Context} Context
 * @typedef {import('../environment.mjs').Environment} Environment
 * @typedef {import('../statistics.mjs').Measurement} Measurement
 */

export const END_TO_END = 'end to end';
const CREATIONS_PER_SECOND = 150;
export const REQUEST_TO_PROVIDER = `request to provider, ${CREATIONS_PER_SECOND} a second`;
const POLL_MS = 20;
/** Sends prepared per second of a load. */
const DELIVERIES_PER_SECOND = 4_000;
/** Calls before the measurement, after which Node has compiled the code of a delivery. */
const WARM_UP_CALLS = 8_000;
const SILENCE_MS_MAX = 10_000;
/** Each round has a new worker. At this rate, Node needs this time to compile hot code. */
const WARM_UP_SECONDS = 30;
/** In three seconds, a single pause of the machine of 30 ms would be the 99th percentile. */
const STEADY_SECONDS_MIN = 15;
/** Sends with all receipts applied: as many as `WARM_UP_CALLS` on a common machine. */
const END_TO_END_WARM_UP_SECONDS = 10;
/** A send is pending for half a second. */
const END_TO_END_SECONDS_MIN = 5;
/** Receipts prepared per second of a load. */
const RECEIPTS_PER_SECOND = 10_000;
/** Receipts of one status are stored for this many sends before the next status: more than a worker takes at once. */
const SENDS_REPORTED_TOGETHER = 500;

const PROVIDERS = [
  { name: 'deliver, instant provider', delayMs: 0, concurrency: 50 },
  { name: 'deliver, provider of 50 ms, 100 at once', delayMs: 50, concurrency: 100 },
];

/**
 * One worker on a full queue.
 * @param {Context} context
 */
export async function measureDelivery({ environment, options, targets, provider, flushRedis }) {
  const rows = [];
  for (const { name, delayMs, concurrency } of PROVIDERS) {
    const candidates = targets.map((target) => ({
      target: target.name,
      load: async (/** @type {number} */ seconds) => {
        await target.clear();
        await resetProvider(provider.url, delayMs);
        const total = WARM_UP_CALLS + DELIVERIES_PER_SECOND * seconds;
        await target.createEnqueuedSends(total);
        const worker = await target.startWorker(provider.url, concurrency);
        const measurement = await measureCalls(environment, provider, worker.pid, total, seconds);
        await worker.stop();
        await target.clear();
        await flushRedis();
        return measurement;
      },
    }));
    rows.push(...(await compare(name, candidates, options)));
  }
  return rows;
}

/**
 * @param {Environment} environment
 * @param {import('../environment.mjs').Service} provider
 * @param {number} pid of the worker
 * @param {number} total sends in the queue
 * @param {number} seconds
 * @returns {Promise<Measurement>}
 */
async function measureCalls(environment, provider, pid, total, seconds) {
  const first = await untilCalls(provider.url, WARM_UP_CALLS);
  const { result: last, usage } = await withUsage(environment, { worker: pid, provider: provider.pid }, () =>
    untilCalls(provider.url, total - 100, first.at + seconds * 1000),
  );
  return throughputOf(last.count - first.count, last.at - first.at, usage);
}

/**
 * Sends from their creation until their third receipt was applied, as many as API and worker process together.
 * @param {Context} context
 */
export function measureEndToEnd(context) {
  const candidates = context.targets.map((target) => ({
    target: target.name,
    load: (/** @type {number} */ seconds) => loadEndToEnd(context, target, seconds),
  }));
  return compare(END_TO_END, candidates, context.options);
}

/**
 * @param {Context} context
 * @param {import('../targets/target.mjs').Target} target
 * @param {number} seconds after a warm-up
 * @returns {Promise<Measurement>}
 */
export async function loadEndToEnd({ environment, provider, flushRedis }, target, seconds) {
  await resetProvider(provider.url, 0, target);
  const worker = await target.startWorker(provider.url, 50);
  const pids = { api: target.api.pid, worker: worker.pid, provider: provider.pid };
  const load = fullLoad(
    environment,
    { url: target.api.url, pids },
    {
      requests: (count) => creations(target.keys, count, true),
      databaseUrl: target.databaseUrl,
      warmUpSeconds: 0,
    },
  );
  await load(END_TO_END_WARM_UP_SECONDS);
  const measurement = await load(Math.max(seconds, END_TO_END_SECONDS_MIN));
  await worker.stop();
  await flushRedis();
  return measurement;
}

/**
 * The time from a request to the call of the provider, at a rate far below the limit.
 * @param {Context} context
 */
export function measureRequestToProvider({ environment, options, targets, provider, flushRedis }) {
  const candidates = targets.map((target) => ({
    target: target.name,
    load: async (/** @type {number} */ wantedSeconds) => {
      const seconds = Math.max(wantedSeconds, STEADY_SECONDS_MIN);
      await resetProvider(provider.url, 0);
      const worker = await target.startWorker(provider.url, 50);
      const requests = creations(target.keys, CREATIONS_PER_SECOND * seconds, true);
      const warmUp = creations(target.keys, CREATIONS_PER_SECOND * WARM_UP_SECONDS, true);
      const { api } = target;
      const endpoint = { url: api.url, pids: { api: api.pid, worker: worker.pid } };
      await steadyLoad(environment, endpoint, {
        requests: warmUp,
        perSecond: CREATIONS_PER_SECOND,
        seconds: WARM_UP_SECONDS,
      });
      await untilCalls(provider.url, warmUp.length);
      const load = { requests, perSecond: CREATIONS_PER_SECOND, seconds };
      const { dueAt, measurement } = await steadyLoad(environment, endpoint, load);
      await untilCalls(provider.url, requests.length + warmUp.length);
      const times = await timesToProvider(provider.url, requests, dueAt);
      await worker.stop();
      await flushRedis();
      return { ...measurement, medianMs: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
    },
  }));
  return compare(REQUEST_TO_PROVIDER, candidates, options);
}

/**
 * @param {string} url of the provider
 * @param {readonly import('../load/load.mjs').Request[]} requests
 * @param {readonly number[]} dueAt when each request was due
 * @returns {Promise<number[]>} milliseconds, in ascending order
 */
export async function timesToProvider(url, requests, dueAt) {
  const arrivals = /** @type {Record<string, number>} */ (await (await fetch(`${url}/arrivals`)).json());
  return requests
    .map(
      ({ body }, index) =>
        (arrivals[JSON.parse(String(body)).to] ?? Number.NaN) - (dueAt[index] ?? Number.NaN),
    )
    .toSorted((a, b) => a - b);
}

/**
 * Waits until the provider has had a number of calls, or until a time.
 * @param {string} url
 * @param {number} calls
 * @param {number} [until] a time of `performance.now()`
 * @returns {Promise<{ count: number, at: number }>}
 */
export async function untilCalls(url, calls, until = Infinity) {
  let [seen, changedAt] = [-1, performance.now()];
  for (;;) {
    const { body } = await request(`${url}/count`);
    const { count } = /** @type {{ count: number }} */ (await body.json());
    const at = performance.now();
    if (count >= calls || at >= until) return { count, at };
    if (count !== seen) [seen, changedAt] = [count, at];
    if (at - changedAt > SILENCE_MS_MAX)
      throw new Error(`The provider gets no more calls: it had ${count} of ${calls}.`);
    await delay(POLL_MS);
  }
}

/**
 * @param {string} url of the provider
 * @param {number} delayMs
 * @param {Pick<import('../targets/target.mjs').Target, 'api' | 'secret'>} [reportsTo] the target that gets receipts of its messages
 * @param {'together' | 'one by one'} [posting] how the provider posts its reports
 */
export async function resetProvider(url, delayMs, reportsTo, posting = 'together') {
  const query = new URLSearchParams({
    delay: String(delayMs),
    ...(reportsTo && { api: reportsTo.api.url, secret: reportsTo.secret, posting }),
  });
  const { body } = await request(`${url}/reset?${query}`, { method: 'POST' });
  await body.dump();
}

/**
 * The rate at which a worker applies stored receipts: three for each of many sends.
 * @param {Context} context
 */
export function measureReceiptApplication({ environment, options, targets, provider, flushRedis }) {
  const candidates = targets.map((target) => ({
    target: target.name,
    load: async (/** @type {number} */ seconds) => {
      await target.clear();
      const sends = await storeReceipts(target, RECEIPTS_PER_SECOND * seconds);
      const worker = await target.startWorker(provider.url, 50);
      const measurement = await measureApplication(environment, target, worker.pid, sends);
      await worker.stop();
      await target.clear();
      await flushRedis();
      return measurement;
    },
  }));
  return compare('receipts, applied', candidates, options);
}

/**
 * Posts receipts of accepted sends: for some at a time, first that they were sent, then delivered, then read.
 * @param {import('../targets/target.mjs').Target} target
 * @param {number} count at least
 * @returns {Promise<import('../targets/target.mjs').AcceptedSend[]>}
 */
async function storeReceipts(target, count) {
  const groups = Math.ceil(count / RECEIPT_STATUSES.length / SENDS_REPORTED_TOGETHER);
  const sends = await target.createAcceptedSends(groups * SENDS_REPORTED_TOGETHER);
  const reports = Array.from({ length: groups }, (_, group) =>
    RECEIPT_STATUSES.flatMap((status) =>
      sends
        .slice(group * SENDS_REPORTED_TOGETHER, (group + 1) * SENDS_REPORTED_TOGETHER)
        .map(({ messageId, opaqueData }) => ({ id: messageId, opaqueData, status })),
    ),
  ).flat();
  for (const { path, headers, body } of webhooks(reports, REPORTS_PER_POST, target.secret)) {
    const options = { method: 'POST', headers, body: body ?? null };
    const answer = await request(target.api.url + path, options);
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`A webhook was answered ${answer.statusCode}.`);
  }
  return sends;
}

/**
 * Measures from when the first group of sends is read until only one is left.
 * @param {Environment} environment
 * @param {import('../targets/target.mjs').Target} target
 * @param {number} pid of the worker
 * @param {readonly import('../targets/target.mjs').AcceptedSend[]} sends
 * @returns {Promise<Measurement>}
 */
async function measureApplication(environment, { pool }, pid, sends) {
  /** @param {number} count */
  const untilRead = async (count) => {
    let [seen, changedAt] = [-1, performance.now()];
    for (;;) {
      const { rows } = await pool.query(
        `select count(*)::integer as read from sends where id >= $1 and status = 'read'`,
        [sends[0]?.id],
      );
      const at = performance.now();
      if (rows[0].read >= count) return { read: rows[0].read, at };
      if (rows[0].read !== seen) [seen, changedAt] = [rows[0].read, at];
      if (at - changedAt > SILENCE_MS_MAX)
        throw new Error(`No more receipts are applied: ${rows[0].read} of ${count} sends are read.`);
      await delay(POLL_MS);
    }
  };
  const first = await untilRead(SENDS_REPORTED_TOGETHER);
  const { result: last, usage } = await withUsage(environment, { worker: pid }, () =>
    untilRead(sends.length - SENDS_REPORTED_TOGETHER),
  );
  return throughputOf((last.read - first.read) * RECEIPT_STATUSES.length, last.at - first.at, usage);
}

/**
 * @param {number} count
 * @param {number} ms
 * @param {import('../load/load.mjs').Usage} usage
 * @returns {Measurement}
 */
function throughputOf(count, ms, usage) {
  return {
    perSecond: count / (ms / 1000),
    medianMs: Number.NaN,
    p99Ms: Number.NaN,
    ...usageOfOne(usage, count),
  };
}
