import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { monotonicMs } from '../machine.mjs';
import { roundRobin } from '../scheduling.mjs';
import { percentile } from '../statistics.mjs';

/**
 * `node generator.mjs FILE` sends the requests of a load in turn and prints the result as one line of JSON. With a rate, it keeps that rate
 * regardless of the answers, and measures times from when a request was due, so that a stalled server cannot hide behind requests that were
 * never sent. With a database, requests create sends, and a fixed number of sends is kept pending until they are read. With neither, each
 * connection sends as fast as it is answered.
 *
 * @typedef {import('./load.mjs').Load & { connections: number }} Load
 *
 * @typedef {Omit<import('./load.mjs').LoadResult, 'requests' | 'medianMs' | 'p99Ms'> & { timesMs: number[] }} Outcome
 */

/** Pending sends at a time: several times the number that API and worker handle at once, so that neither runs out of work. */
const UNDER_WAY_MAX = 400;
const POLL_MS = 50;
const SILENCE_MS_MAX = 10_000;

if (isMainThread) await generate();
else tick();

async function generate() {
  const load = /** @type {Load} */ (JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')));
  const { timesMs, ...rest } = await run(load);
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

/** @param {Load} load */
function run(load) {
  const { perSecond, databaseUrl } = load;
  if (databaseUrl !== undefined) return runUntilRead(load, databaseUrl);
  return perSecond === undefined ? runAtFullSpeed(load) : runAtRate(load, perSecond);
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
  const inSecond = Array.from({ length: Math.ceil(seconds) }, () => 0);
  const startedAt = monotonicMs();
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
      const second = Math.floor((monotonicMs() - startedAt) / 1000);
      if (second < seconds) inSecond[second] = (inSecond[second] ?? 0) + 1;
      if (status >= 300) failed += 1;
    });
  });
  return {
    timesMs,
    perSecond: timesMs.length / duration,
    inSecond,
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
    perSecond: total / ((monotonicMs() - startedAt) / 1000),
    failed,
    exhausted: total > requests.length,
    cpuMs: cpuMsSince(cpuBefore),
    dueAt,
  };
  await pool.close();
  return outcome;
}

/**
 * Creates sends and keeps a fixed number of them pending. A send ends when its row has the status `read`. The rate is measured while that
 * many are pending. Earlier and later sends are also counted and waited for.
 * @param {Load} load
 * @param {string} databaseUrl
 * @returns {Promise<Outcome>}
 */
async function runUntilRead({ url, connections, seconds, requests }, databaseUrl) {
  const { Pool } = await import('undici');
  const { openPool } = await import('../baseline/primitives.mjs');
  const pool = new Pool(url, { connections, pipelining: 1 });
  const database = openPool(databaseUrl);
  const cpuBefore = process.cpuUsage();
  const startedAt = monotonicMs();
  const endsAt = startedAt + seconds * 1000;
  /** @type {Map<string, number>} when each send that is under way was requested, by id */
  const underWay = new Map();
  /** @type {number[]} */
  const timesMs = [];
  let sent = 0;
  let unanswered = 0;

  const create = async () => {
    const at = monotonicMs();
    const { method, path, headers, body = '' } = roundRobin(requests, sent++);
    unanswered += 1;
    const answer = await pool.request({ method, path, headers, body });
    const { id } = /** @type {{ id: string }} */ (await answer.body.json());
    if (answer.statusCode !== 202) throw new Error(`A creation was answered ${answer.statusCode}.`);
    unanswered -= 1;
    underWay.set(id, at);
  };

  const polls = [{ at: startedAt, read: 0 }];
  let readAt = startedAt;
  for (;;) {
    const missing = monotonicMs() < endsAt ? UNDER_WAY_MAX - unanswered - underWay.size : 0;
    for (let count = 0; count < missing; count++) void create();
    if (unanswered + underWay.size === 0) break;
    await delay(POLL_MS);
    const { rows } = await database.query({
      name: 'read',
      text: `select id from sends where id = any($1) and status = 'read'`,
      values: [[...underWay.keys()]],
    });
    const at = monotonicMs();
    for (const { id } of rows) {
      timesMs.push(at - (underWay.get(id) ?? Number.NaN));
      underWay.delete(id);
    }
    if (rows.length > 0) readAt = at;
    if (at - readAt > SILENCE_MS_MAX) throw new Error(`${underWay.size} sends are not read.`);
    polls.push({ at, read: timesMs.length });
  }
  const outcome = {
    timesMs,
    perSecond: steadyRateOf(polls.filter(({ at, read }) => read >= UNDER_WAY_MAX && at < endsAt)),
    failed: 0,
    exhausted: sent > requests.length,
    cpuMs: cpuMsSince(cpuBefore),
  };
  await Promise.all([pool.close(), database.end()]);
  return outcome;
}

/**
 * @param {readonly { at: number, read: number }[]} polls
 * @returns {number} a second
 */
function steadyRateOf(polls) {
  const [from, to] = [polls.at(0), polls.at(-1)];
  if (from === undefined || to === undefined || from === to)
    throw new Error('The load ended before its rate was steady.');
  return (to.read - from.read) / ((to.at - from.at) / 1000);
}

/**
 * Runs in a separate thread, and posts a message when each request is due. The event loop's timers are up to a millisecond late, which
 * would count against the service; waiting here blocks no other work and is late by microseconds.
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
