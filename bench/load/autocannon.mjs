import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { percentile } from '../percentile.mjs';
import { inTurn } from '../turn.mjs';

/**
 * `node autocannon.mjs URL CONNECTIONS SECONDS FILE`: plays the requests of a file in their turn, and prints what came of it
 * as one line of JSON.
 */
const [url = '', connections, seconds, file = ''] = process.argv.slice(2);
/** @type {import('./plan.mjs').Request[]} */
const requests = JSON.parse(readFileSync(file, 'utf8'));
let place = 0;
const before = process.cpuUsage();
/** @type {number[]} */
const times = [];
let failed = 0;

const run = autocannon(
  {
    url,
    connections: Number(connections),
    duration: Number(seconds),
    requests: [{ setupRequest: (request) => ({ ...request, ...inTurn(requests, place++) }) }],
  },
  (error, result) => {
    if (error) throw error;
    const { user, system } = process.cpuUsage(before);
    const sorted = times.toSorted((a, b) => a - b);
    const figures = {
      requests: times.length,
      seconds: result.duration,
      medianMs: percentile(sorted, 0.5),
      p99Ms: percentile(sorted, 0.99),
      failed: failed + result.errors + result.timeouts,
      exhausted: place > requests.length,
      cpuMs: (user + system) / 1000,
    };
    console.log(JSON.stringify(figures));
  },
);
run.on('response', (_client, status, _bytes, ms) => {
  times.push(ms);
  if (status >= 300) failed += 1;
});
