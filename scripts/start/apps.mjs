import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../refusal.mjs';
import { root } from '../setup/npm.mjs';

/**
 * @typedef {import('../processes/processes.mjs').Started} Started
 *
 * @typedef {object} App
 * @property {'api' | 'worker' | 'console' | 'simulator'} name
 * @property {string} script
 * @property {number} stage the highest stops first: worker and API end before what they call
 * @property {number} graceMs
 * @property {NodeJS.ProcessEnv} env
 */

/**
 * The processes, in the order in which they start; no simulator without a port for it.
 * @param {import('./settings.mjs').Ports} ports
 * @param {NodeJS.ProcessEnv} common
 * @returns {App[]}
 */
export function apps(ports, common) {
  /** @param {App['name']} name */
  const metrics = (name) => ({ ...common, METRICS_PORT: String(ports.metrics[name]) });
  /** @type {App} */
  const simulator = {
    name: 'simulator',
    script: 'packages/simulator/dist/main.js',
    stage: 3,
    graceMs: 1000,
    env: {
      ...metrics('simulator'),
      HOST: '127.0.0.1',
      PORT: String(ports.simulator),
      WEBHOOK_URL: `http://127.0.0.1:${ports.api}/webhooks/whatsapp`,
    },
  };
  return [
    ...(ports.simulator === null ? [] : [simulator]),
    {
      name: 'api',
      script: 'apps/api/dist/main.js',
      stage: 4,
      graceMs: 9700,
      env: { ...metrics('api'), PORT: String(ports.api) },
    },
    { name: 'worker', script: 'apps/worker/dist/main.js', stage: 4, graceMs: 9700, env: metrics('worker') },
    {
      name: 'console',
      script: 'apps/console/dist/main.js',
      stage: 4,
      graceMs: 9700,
      env: { ...metrics('console'), PORT: String(ports.console) },
    },
  ];
}

/**
 * @param {import('../processes/processes.mjs').Processes} processes
 * @param {App} app
 * @param {(line: string) => void} say
 * @returns {Promise<Started>}
 */
export function startApp(processes, { name, script, stage, graceMs, env }, say) {
  const prefix = `${name.padEnd('simulator'.length)} | `;
  return processes.start({
    name,
    command: process.execPath,
    args: [script],
    cwd: root,
    env,
    onLine: (line) => say(prefix + line),
    stage,
    stop: [
      ['SIGTERM', graceMs],
      ['SIGKILL', 300],
    ],
  });
}

/**
 * Waits until a process says on its metrics port that it is ready.
 * @param {App} app
 * @param {AbortSignal} signal ends the waiting
 * @throws {Refusal} after a minute
 */
export async function ready({ name, env }, signal) {
  const deadline = Date.now() + 60_000;
  while (!(await answers(`http://127.0.0.1:${env['METRICS_PORT']}/readyz`))) {
    signal.throwIfAborted();
    if (Date.now() > deadline) throw new Refusal(`The ${name} was not ready within a minute.`);
    await delay(50, undefined, { signal });
  }
}

/** @param {string} url */
async function answers(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}
