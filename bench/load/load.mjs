import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../environment.mjs';
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
 * @property {Record<string, number>} pids measured processes, by name
 *
 * @typedef {object} Load
 * @property {string} url
 * @property {number} seconds
 * @property {Request[]} requests
 * @property {number} [connections] 32 unless given
 * @property {number} [perSecond] a steady rate
 * @property {string} [databaseUrl] where the requests create sends, each of which is waited for until it was read
 *
 * @typedef {object} Usage
 * @property {Record<string, number>} cpuMs processor time, by process
 * @property {number} walBytes what PostgreSQL wrote to its write-ahead log
 *
 * @typedef {object} LoadResult
 * @property {number} requests answered; with a database: sends that were read
 * @property {number} perSecond
 * @property {number} medianMs
 * @property {number} p99Ms
 * @property {number} failed answered with another status than 2xx, or not at all
 * @property {boolean} exhausted there were fewer requests than answers, so that some were sent twice
 * @property {number} cpuMs processor time of the load generator
 * @property {number[]} [dueAt] at a steady rate: when each request was due, by `monotonicMs`
 * @property {number[]} [inSecond] at full speed: how many were answered in each second
 */

const CONNECTIONS = 32;
/** Requests prepared per second of the first load; later loads use the target's measured rate. */
const REQUESTS_PER_SECOND = 5_000;
/**
 * Length of an unmeasured load just before each measured one. A process that was idle while the other targets were measured needs up to
 * twice the CPU time in its first second. Without this load, the target with the longest breaks seemed 5 to 30 % slower.
 */
export const WARM_UP_SECONDS = 2;
const FAILED_FRACTION_MAX = 0.001;
const WAL_BYTES = `select pg_current_wal_insert_lsn() - '0/0' as bytes`;

/**
 * A source of loads at full speed: connections with one request in flight each. It prepares as many requests as the earlier loads
 * needed.
 * @param {Environment} environment
 * @param {Endpoint} endpoint
 * @param {object} load
 * @param {(count: number) => Promise<Request[]> | Request[]} load.requests
 * @param {boolean} [load.isRepeatable] whether a request may be sent more than once
 * @param {boolean} [load.isRefused] whether the target has to refuse each request
 * @param {number} [load.connections] as in `Load`
 * @param {number} [load.itemsPerRequest] how many of what is counted one request holds
 * @param {number} [load.warmUpSeconds] 0 measures a process that was idle or has just started
 * @param {string} [load.databaseUrl] as in `Load`
 * @param {() => Promise<void>} [load.after] called after each load
 * @returns {(seconds: number) => Promise<import('../statistics.mjs').Measurement>}
 */
export function fullLoad(
  environment,
  endpoint,
  {
    requests,
    isRepeatable = false,
    isRefused = false,
    connections = CONNECTIONS,
    itemsPerRequest = 1,
    warmUpSeconds = WARM_UP_SECONDS,
    databaseUrl,
    after = async () => {},
  },
) {
  let perSecond = REQUESTS_PER_SECOND / itemsPerRequest;
  return async (seconds) => {
    for (;;) {
      const warmUpCount = Math.ceil(perSecond * warmUpSeconds);
      const prepared = await requests(warmUpCount + Math.ceil(perSecond * seconds));
      const load = {
        url: endpoint.url,
        seconds,
        requests: isRepeatable ? prepared : prepared.slice(warmUpCount),
        connections,
        ...(databaseUrl && { databaseUrl }),
      };
      if (warmUpSeconds > 0)
        await runGenerator(environment, {
          ...load,
          seconds: warmUpSeconds,
          requests: isRepeatable ? prepared : prepared.slice(0, warmUpCount),
        });
      const { result: answered, usage } = await withUsage(environment, endpoint.pids, () =>
        runGenerator(environment, load),
      );
      await after();
      const result = isRefused ? { ...answered, failed: answered.requests - answered.failed } : answered;
      if (!result.exhausted || isRepeatable) {
        perSecond = Math.max(perSecond, 1.5 * result.perSecond);
        return measurementOf(result, usage, itemsPerRequest);
      }
      perSecond *= 2;
    }
  };
}

/**
 * Runs one load at a steady rate, independent of the answers.
 * @param {Environment} environment
 * @param {Endpoint} endpoint
 * @param {{ requests: Request[], perSecond: number, seconds: number }} load
 */
export async function steadyLoad(environment, endpoint, load) {
  const { result, usage } = await withUsage(environment, endpoint.pids, () =>
    runGenerator(environment, { url: endpoint.url, ...load }),
  );
  return { dueAt: result.dueAt ?? [], measurement: measurementOf(result, usage, 1) };
}

/**
 * Runs a function and measures the resources that processes, PostgreSQL and Redis use in that time.
 * @template T
 * @param {Environment} environment
 * @param {Record<string, number>} pids by name
 * @param {() => Promise<T>} work
 * @returns {Promise<{ result: T, usage: Usage }>}
 */
export async function withUsage({ databaseUrl, postgres, redis }, pids, work) {
  const all = { ...pids, postgres, redis };
  const read = () => Object.entries(all).map(([name, pid]) => ({ name, cpuMs: cpuMsOf([pid]) }));
  const client = await connect(databaseUrl);
  const walBytes = async () => Number((await client.query(WAL_BYTES)).rows[0].bytes);
  const walBefore = await walBytes();
  const before = read();
  const result = await work();
  const used = read().map(({ name, cpuMs }, index) => [name, cpuMs - (before[index]?.cpuMs ?? 0)]);
  const usage = { cpuMs: Object.fromEntries(used), walBytes: (await walBytes()) - walBefore };
  await client.end();
  return { result, usage };
}

/**
 * Returns the usage per thing.
 * @param {Usage} usage of all
 * @param {number} count
 * @returns {Usage}
 */
export const usageOfOne = ({ cpuMs, walBytes }, count) => ({
  cpuMs: Object.fromEntries(Object.entries(cpuMs).map(([name, ms]) => [name, ms / count])),
  walBytes: walBytes / count,
});

/**
 * Runs the load generator in a separate process.
 * @param {Environment} environment
 * @param {Load} load
 * @returns {Promise<LoadResult>}
 */
async function runGenerator({ processes }, load) {
  const file = join(processes.folder, 'load');
  writeFileSync(file, JSON.stringify({ connections: CONNECTIONS, ...load }), { mode: 0o600 });
  /** @type {string[]} */
  const lines = [];
  const { exited } = await processes.start({
    name: 'load',
    command: process.execPath,
    args: [fileURLToPath(new URL('generator.mjs', import.meta.url)), file],
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
 * @param {Usage} usage
 * @param {number} itemsPerRequest
 * @returns {import('../statistics.mjs').Measurement}
 */
function measurementOf(result, { cpuMs, walBytes }, itemsPerRequest) {
  const { requests, perSecond, medianMs, p99Ms, failed, inSecond } = result;
  if (failed > requests * FAILED_FRACTION_MAX)
    throw new Error(`${failed} of ${requests} requests were refused or not answered.`);
  return {
    perSecond: perSecond * itemsPerRequest,
    medianMs,
    p99Ms,
    failed,
    ...usageOfOne({ cpuMs: { ...cpuMs, load: result.cpuMs }, walBytes }, requests * itemsPerRequest),
    ...(inSecond && { inSecond }),
  };
}
