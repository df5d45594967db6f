import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { monotonicMs } from '../machine.mjs';
import { roundRobin } from '../scheduling.mjs';
import { percentile } from '../statistics.mjs';

/**
 * `node generator.mjs URL CONNECTIONS SECONDS FILE [PER_SECOND]` sends the requests of a file in turn and prints the result as one
 * line of JSON. With a rate it keeps that rate whatever the answers do, and times count from when a request was due: a server that
 * stalls cannot hide behind requests that were never sent. Without a rate, each connection sends as fast as it is answered.
 *
 * @typedef {object} Load
 * @property {string} url
 * @property {number} connections
 * @property {number} seconds
 * @property {import('./load.mjs').Request[]} requests
 *
 * @typedef {Omit<import('./load.mjs').LoadResult, 'requests' | 'medianMs' | 'p99Ms'> & { timesMs: number[] }} Outcome
 */

if (isMainThread) await generate();
else tick();

async function generate() {
  const [url = '', connections, seconds, file = '', perSecond] = process.argv.slice(2);
  const load = {
    url,
    connections: Number(connections),
    seconds: Number(seconds),
    requests: JSON.parse(readFileSync(file, 'utf8')),
  };
  const { timesMs, ...rest } =
    perSecond === undefined ? await runAtFullSpeed(load) : await runAtRate(load, Number(perSecond));
  const sorted = timesMs.toSorted((a, b) => a - b);
  console.log(
    JSON.stringify({
      requests: timesMs.length,
      medianMs: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      ...rest,
    }),
  );
}

/** @param {NodeJS.CpuUsage} before */
function cpuMsSince(before) {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * @param {Load} load
 * @returns {Promise<Outcome>}
 */
async function runAtFullSpeed({ url, connections, seconds, requests }) {
  const { default: autocannon } = await import('autocannon');
  const cpuBefore = process.cpuUsage();
  let sent = 0;
  let failed = 0;
  /** @type {number[]} */
  const timesMs = [];
  const { duration, errors, timeouts } = await new Promise((resolve, reject) => {
    const run = autocannon(
      {
        url,
        connections,
        duration: seconds,
        requests: [{ setupRequest: (request) => ({ ...request, ...roundRobin(requests, sent++) }) }],
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    );
    run.on('response', (_client, status, _bytes, ms) => {
      timesMs.push(ms);
      if (status >= 300) failed += 1;
    });
  });
  return {
    timesMs,
    seconds: duration,
    failed: failed + errors + timeouts,
    exhausted: sent > requests.length,
    cpuMs: cpuMsSince(cpuBefore),
  };
}

/**
 * @param {Load} load
 * @param {number} perSecond
 * @returns {Promise<Outcome>}
 */
async function runAtRate({ url, connections, seconds, requests }, perSecond) {
  const { Pool } = await import('undici');
  const pool = new Pool(url, { connections, pipelining: 1 });
  const total = Math.round(seconds * perSecond);
  const cpuBefore = process.cpuUsage();
  const startedAt = monotonicMs();
  /** @type {number[]} */
  const dueAt = [];
  /** @type {number[]} */
  const timesMs = [];
  let failed = 0;

  /** @param {number} index */
  const send = async (index) => {
    const due = startedAt + (index / perSecond) * 1000;
    dueAt.push(due);
    const { method, path, headers, body } = roundRobin(requests, index);
    try {
      const answer = await pool.request({ method, path, headers, ...(body !== undefined && { body }) });
      await answer.body.dump();
      if (answer.statusCode >= 300) failed += 1;
    } catch {
      failed += 1;
    }
    timesMs.push(monotonicMs() - due);
  };

  /** @type {Promise<void>[]} */
  const sent = [];
  const clock = new Worker(new URL(import.meta.url), { workerData: { startedAt, total, perSecond } });
  clock.on('message', () => sent.push(send(sent.length)));
  await once(clock, 'exit');
  await Promise.all(sent);
  const outcome = {
    timesMs,
    seconds: (monotonicMs() - startedAt) / 1000,
    failed,
    exhausted: total > requests.length,
    cpuMs: cpuMsSince(cpuBefore),
    dueAt,
  };
  await pool.close();
  return outcome;
}

/**
 * In a thread of its own: posts a message when each request is due. The event loop's timers are up to a millisecond late, which would
 * count against the service; waiting here blocks nobody and is late by microseconds.
 */
function tick() {
  /** @type {{ startedAt: number, total: number, perSecond: number }} */
  const { startedAt, total, perSecond } = workerData;
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (let index = 0; index < total; index++) {
    const waitMs = startedAt + (index / perSecond) * 1000 - monotonicMs();
    if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort?.postMessage(index);
  }
}
