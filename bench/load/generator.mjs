import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { percentile } from '../percentile.mjs';
import { monotonicMs } from '../clock.mjs';
import { inTurn } from '../turn.mjs';

/**
 * `node paced.mjs URL CONNECTIONS SECONDS FILE PER_SECOND`: sends the requests of a file at a steady rate, whatever the answers
 * do, and prints what came of it as one line of JSON. Times count from when a request was due, so that a server that stalls does
 * not hide behind requests that were never sent. `begun` is when each request was due, on the clock that all processes share.
 */
const [url = '', connections, seconds, file = '', perSecond] = process.argv.slice(2);
/** @type {import('./plan.mjs').Request[]} */
const requests = JSON.parse(readFileSync(file, 'utf8'));
const pool = new Pool(url, { connections: Number(connections), pipelining: 1 });
const total = Math.round(Number(seconds) * Number(perSecond));
const before = process.cpuUsage();
const beganAt = monotonicMs();
/** @type {number[]} */
const begun = [];
/** @type {number[]} */
const times = [];
let failed = 0;

/** @param {number} place */
async function send(place) {
  const dueAt = beganAt + (place / Number(perSecond)) * 1000;
  begun.push(dueAt);
  const { method, path, headers, body } = inTurn(requests, place);
  try {
    const answer = await pool.request({ method, path, headers, ...(body !== undefined && { body }) });
    await answer.body.dump();
    if (answer.statusCode >= 300) failed += 1;
  } catch {
    failed += 1;
  }
  times.push(monotonicMs() - dueAt);
}

/** @type {Promise<void>[]} */
const sent = [];
const pace = new Worker(new URL('pace.mjs', import.meta.url), {
  workerData: { beganAt, total, perSecond: Number(perSecond) },
});
pace.on('message', () => sent.push(send(sent.length)));
await once(pace, 'exit');
await Promise.all(sent);
const { user, system } = process.cpuUsage(before);
const sorted = times.toSorted((a, b) => a - b);
console.log(
  JSON.stringify({
    requests: total,
    seconds: (monotonicMs() - beganAt) / 1000,
    medianMs: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    failed,
    exhausted: total > requests.length,
    cpuMs: (user + system) / 1000,
    begun,
  }),
);
await pool.close();
