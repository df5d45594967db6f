import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { root } from '../checkout.mjs';
import { UserError } from '../user-error.mjs';
import { demoSenders } from './demoSenders.mjs';
import { reachedAt } from './settings.mjs';

const READY_MS_MAX = 60_000;
const runFile = promisify(execFile);

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
 * Returns the processes in the order of their start; without the simulator if it has no port.
 * @param {import('./settings.mjs').Ports} ports
 * @param {NodeJS.ProcessEnv} common
 * @returns {App[]}
 */
export function apps(ports, common) {
  /** @param {App['name']} name */
  const withMetrics = (name) => ({ ...common, METRICS_PORT: String(ports.metrics[name]) });
  /** @type {App} */
  const simulator = {
    name: 'simulator',
    script: 'packages/simulator/dist/main.js',
    stage: 3,
    graceMs: 1000,
    env: {
      ...withMetrics('simulator'),
      // Its page shows codes without a sign-in, so HOST does not apply to it.
      HOST: '127.0.0.1',
      PORT: String(ports.simulator),
      WEBHOOK_URL: `http://${reachedAt(common['HOST'])}:${ports.api}/webhooks/whatsapp`,
      DISPLAY_PHONE_NUMBERS: demoSenders
        .map(({ phoneNumberId, number }) => `${phoneNumberId}=${number}`)
        .join(','),
    },
  };
  return [
    ...(ports.simulator === null ? [] : [simulator]),
    {
      name: 'api',
      script: 'apps/api/dist/main.js',
      stage: 4,
      graceMs: 9700,
      env: { ...withMetrics('api'), PORT: String(ports.api) },
    },
    {
      name: 'worker',
      script: 'apps/worker/dist/main.js',
      stage: 4,
      graceMs: 9700,
      env: withMetrics('worker'),
    },
    {
      name: 'console',
      script: 'apps/console/dist/main.js',
      stage: 4,
      graceMs: 9700,
      env: { ...withMetrics('console'), PORT: String(ports.console) },
    },
  ];
}

/**
 * @param {import('../processes/processes.mjs').Processes} processes
 * @param {App} app
 * @param {number | ((line: string) => void)} output a file descriptor, or what takes each line with the process's name
 * @returns {Promise<Started>}
 */
export function startApp(processes, { name, script, stage, graceMs, env }, output) {
  const prefix = `${name.padEnd('simulator'.length)} | `;
  return processes.start({
    name,
    command: process.execPath,
    args: [script],
    cwd: root,
    env,
    ...(typeof output === 'number' ? { output } : { onLine: (line) => output(prefix + line) }),
    stage,
    stop: [
      ['SIGTERM', graceMs],
      ['SIGKILL', 300],
    ],
  });
}

/**
 * Waits until a process is ready according to its metrics port.
 * @param {App} app
 * @param {AbortSignal} signal ends the waiting
 * @throws {UserError} after a minute
 */
export async function ready({ name, env }, signal) {
  const deadline = Date.now() + READY_MS_MAX;
  while (!(await isOk(`http://${reachedAt(env['METRICS_HOST'])}:${env['METRICS_PORT']}/readyz`))) {
    signal.throwIfAborted();
    if (Date.now() > deadline) throw new UserError(`The ${name} was not ready within a minute.`);
    await delay(50, undefined, { signal });
  }
}

/** @param {string} url */
async function isOk(url) {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

/**
 * Runs a command of the command line. It has no terminal, so under NODE_ENV=production it needs the name for the audit log.
 * @param {NodeJS.ProcessEnv} env
 * @param {(string | number)[]} args
 * @returns {Promise<any>} the JSON it prints
 * @throws {UserError} with its error message; its arguments may hold a token and stay out
 */
export async function onecode(env, ...args) {
  try {
    const all = ['apps/cli/dist/main.js', ...args.map(String), '--json'];
    const named = { ONECODE_ACTOR: 'npm start', ...env };
    const { stdout } = await runFile(process.execPath, all, { cwd: root, env: named });
    return JSON.parse(stdout);
  } catch (error) {
    const { stderr } = /** @type {{ stderr?: string }} */ (error);
    throw new UserError(
      `onecode ${args[0]} ${args[1]} failed: ${(stderr || 'its answer was no JSON').trim()}`,
    );
  }
}
