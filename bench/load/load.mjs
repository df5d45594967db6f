import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMsOf } from '../machine.mjs';

/**
 * @typedef {import('../environment.mjs').Environment} Environment
 *
 * @typedef {object} Request
 * @property {'GET' | 'POST'} method
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {string} [body]
 *
 * @typedef {object} Endpoint  where a load goes
 * @property {string} url
 * @property {Record<string, number>} pids processes whose processor time is measured, by name
 *
 * @typedef {object} LoadResult
 * @property {number} requests answered
 * @property {number} seconds
 * @property {number} medianMs
 * @property {number} p99Ms
 * @property {number} failed answered with another status than 2xx, or not at all
 * @property {boolean} exhausted there were fewer requests than answers, so that some were sent twice
 * @property {number} cpuMs processor time of the load generator
 * @property {number[]} [dueAt] at a steady rate: when each request was due, by `monotonicMs`
 */

const CONNECTIONS = 32;
/** Requests that are prepared for each second of the first load; later ones follow what the target reached. */
const REQUESTS_PER_SECOND = 5_000;
const FAILED_FRACTION_MAX = 0.001;

/**
 * A source of loads at full speed: 32 connections with one request in flight each. It prepares as many requests as the earlier loads
 * needed.
 * @param {Environment} environment
 * @param {Endpoint} endpoint
 * @param {object} load
 * @param {(count: number) => Promise<Request[]> | Request[]} load.requests
 * @param {boolean} [load.isRepeatable] whether a request may be sent more than once
 * @param {boolean} [load.isRefused] whether the target has to refuse each request
 * @param {number} [load.itemsPerRequest] how many of what is counted one request holds
 * @param {() => Promise<void>} [load.after] called after each load
 * @returns {(seconds: number) => Promise<import('../statistics.mjs').Measurement>}
 */
export function fullLoad(
  environment,
  endpoint,
  { requests, isRepeatable = false, isRefused = false, itemsPerRequest = 1, after = async () => {} },
) {
  let perSecond = REQUESTS_PER_SECOND / itemsPerRequest;
  return async (seconds) => {
    for (;;) {
      const prepared = await requests(Math.ceil(perSecond * seconds));
      const { result: answered, cpuMs } = await withCpuTime(environment, endpoint.pids, () =>
        runGenerator(environment, { url: endpoint.url, seconds, requests: prepared }),
      );
      await after();
      const result = isRefused ? { ...answered, failed: answered.requests - answered.failed } : answered;
      if (!result.exhausted || isRepeatable) {
        perSecond = Math.max(perSecond, (1.5 * result.requests) / result.seconds);
        return measurementOf(result, cpuMs, itemsPerRequest);
      }
      perSecond *= 2;
    }
  };
}

/**
 * One load at a steady rate, whatever the answers do.
 * @param {Environment} environment
 * @param {Endpoint} endpoint
 * @param {{ requests: Request[], perSecond: number, seconds: number }} load
 */
export async function steadyLoad(environment, endpoint, load) {
  const { result, cpuMs } = await withCpuTime(environment, endpoint.pids, () =>
    runGenerator(environment, { url: endpoint.url, ...load }),
  );
  return { dueAt: result.dueAt ?? [], measurement: measurementOf(result, cpuMs, 1) };
}

/**
 * Runs a function and measures the processor time that processes, PostgreSQL and Redis use meanwhile.
 * @template T
 * @param {Environment} environment
 * @param {Record<string, number>} pids by name
 * @param {() => Promise<T>} work
 * @returns {Promise<{ result: T, cpuMs: Record<string, number> }>} milliseconds by name
 */
export async function withCpuTime({ postgres, redis }, pids, work) {
  const all = { ...pids, postgres, redis };
  const read = () => Object.entries(all).map(([name, pid]) => ({ name, cpuMs: cpuMsOf([pid]) }));
  const before = read();
  const result = await work();
  const used = read().map(({ name, cpuMs }, index) => [name, cpuMs - (before[index]?.cpuMs ?? 0)]);
  return { result, cpuMs: Object.fromEntries(used) };
}

/**
 * Runs the load generator, in a process of its own. Without a rate, each connection sends as fast as it is answered.
 * @param {Environment} environment
 * @param {{ url: string, seconds: number, requests: Request[], perSecond?: number }} load
 * @returns {Promise<LoadResult>}
 */
async function runGenerator({ processes }, { url, seconds, requests, perSecond }) {
  const file = join(processes.folder, 'load');
  writeFileSync(file, JSON.stringify(requests));
  const script = fileURLToPath(new URL('generator.mjs', import.meta.url));
  const args = [script, url, CONNECTIONS, seconds, file, ...(perSecond === undefined ? [] : [perSecond])];
  /** @type {string[]} */
  const lines = [];
  const { exited } = await processes.start({
    name: 'load',
    command: process.execPath,
    args: args.map(String),
    stage: 5,
    stop: [['SIGKILL', 500]],
    onLine: (line) => lines.push(line),
  });
  const exit = await exited;
  const json = lines.find((line) => line.startsWith('{'));
  if (exit !== 'exit code 0' || json === undefined)
    throw new Error([...lines, `The load generator ended with ${exit}.`].join('\n'));
  return JSON.parse(json);
}

/**
 * @param {LoadResult} result
 * @param {Record<string, number>} cpuMs
 * @param {number} itemsPerRequest
 * @returns {import('../statistics.mjs').Measurement}
 */
function measurementOf({ requests, seconds, medianMs, p99Ms, failed, cpuMs: load }, cpuMs, itemsPerRequest) {
  if (failed > requests * FAILED_FRACTION_MAX)
    throw new Error(`${failed} of ${requests} requests were refused or not answered.`);
  const items = requests * itemsPerRequest;
  const processes = Object.entries({ ...cpuMs, load });
  return {
    perSecond: items / seconds,
    medianMs,
    p99Ms,
    cpuMs: Object.fromEntries(processes.map(([name, ms]) => [name, ms / items])),
  };
}
