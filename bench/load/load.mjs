import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMsOf } from '../cpu.mjs';
import { asBytes, asJson } from './plan.mjs';

const CONNECTIONS = 32;
const CPU_LOOK_MS = 20;

/**
 * @typedef {object} Played  what came of a load
 * @property {number} requests answered
 * @property {number} seconds
 * @property {number} medianMs
 * @property {number} p99Ms
 * @property {number} failed answered with another status than 2xx, or not at all
 * @property {boolean} exhausted there were fewer requests than answers, so that some were sent twice
 * @property {number} cpuMs processor time of the load maker
 * @property {number[]} [begun] of a paced load: when each request was due, on the clock of `monotonicMs`
 *
 * @typedef {object} Load
 * @property {string} url
 * @property {number} seconds
 * @property {import('./plan.mjs').Request[]} requests
 */

/** The load maker of this machine. */
export const MAKER = spawnSync('wrk', ['--version']).error === undefined ? 'wrk' : 'autocannon';

/**
 * As many requests as are answered: 32 connections, each with one request under way.
 * @param {import('../../scripts/processes/processes.mjs').Processes} processes
 * @param {Load} load
 * @returns {Promise<Played>}
 */
export async function playAll(processes, { url, seconds, requests }) {
  const file = join(processes.folder, 'load');
  if (MAKER === 'autocannon') {
    writeFileSync(file, asJson(requests));
    return run(processes, process.execPath, [scriptOf('autocannon.mjs'), url, CONNECTIONS, seconds, file]);
  }
  writeFileSync(file, asBytes(requests));
  const options = [
    '--threads',
    1,
    '--connections',
    CONNECTIONS,
    '--duration',
    `${seconds}s`,
    '--timeout',
    '10s',
  ];
  return run(processes, 'wrk', [...options, '--script', scriptOf('wrk.lua'), url, '--', file]);
}

/**
 * Requests at a steady rate, whatever the answers do.
 * @param {import('../../scripts/processes/processes.mjs').Processes} processes
 * @param {Load & { perSecond: number }} load
 * @returns {Promise<Played & { begun: number[] }>}
 */
export async function playPaced(processes, { url, seconds, requests, perSecond }) {
  const file = join(processes.folder, 'load');
  writeFileSync(file, asJson(requests));
  const args = [scriptOf('paced.mjs'), url, CONNECTIONS, seconds, file, perSecond];
  return /** @type {any} */ (run(processes, process.execPath, args));
}

/** @param {string} name */
const scriptOf = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * @param {import('../../scripts/processes/processes.mjs').Processes} processes
 * @param {string} command
 * @param {(string | number)[]} args
 * @returns {Promise<Played>}
 */
async function run(processes, command, args) {
  /** @type {string[]} */
  const lines = [];
  const started = await processes.start({
    name: 'load',
    command,
    args: args.map(String),
    stage: 5,
    stop: [['SIGKILL', 500]],
    onLine: (line) => lines.push(line),
  });
  let cpuMs = 0;
  const timer = setInterval(() => (cpuMs = cpuMsOf([started.pid]) || cpuMs), CPU_LOOK_MS);
  const end = await started.exited;
  clearInterval(timer);
  const line = lines.find((one) => one.startsWith('{'));
  if (end !== 'exit code 0' || line === undefined)
    throw new Error([...lines, `The load maker ended with ${end}.`].join('\n'));
  return { cpuMs, ...JSON.parse(line) };
}
