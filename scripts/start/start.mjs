import { parseArgs } from 'node:util';
import { prepare, runNpm } from '../checkout.mjs';
import { Processes } from '../processes/processes.mjs';
import { reportError, UserError } from '../user-error.mjs';
import { apps, ready, startApp } from './apps.mjs';
import { banner } from './banner.mjs';
import { startMailbox } from './mailbox.mjs';
import { offerNewAccount, seed } from './seed.mjs';
import {
  choosePorts,
  commonEnvironment,
  dataFolder,
  reachedAt,
  readEnvFile,
  recordEnvironment,
  removeEnvironment,
} from './settings.mjs';
import { Supervisor } from './supervisor.mjs';
import { generateTraffic } from './traffic.mjs';

/** The reason for ending that is not a failure. */
const stopRequested = Symbol('stop requested');

/** The number of log lines shown for a failed process. */
const TAIL_LINES = 10;

/**
 * @typedef {object} Run
 * @property {Processes} processes
 * @property {AbortController} end aborted with the reason for ending
 * @property {boolean} showLogs the processes' logs go to the screen, not to files
 * @property {number} commandAt when the command began, in `performance.now()`
 */

/**
 * `npm start [-- --logs]`: starts everything and runs until it is stopped. The exit code is 0 after SIGINT, SIGTERM or SIGHUP, and 1 when
 * something could not start or failed to start again. A second signal hurries the stopping.
 * @param {string[]} args
 */
export async function run(args) {
  const commandAt = performance.now();
  const showLogs = readArguments(args);
  readEnvFile();
  const processes = await Processes.claim(dataFolder);
  const end = new AbortController();
  const ending = new Promise((_, reject) =>
    end.signal.addEventListener('abort', () => reject(end.signal.reason)),
  );
  endOnSignal(end, processes);
  let code = 0;
  try {
    await Promise.race([startAll({ processes, end, showLogs, commandAt }), ending]);
    await ending;
  } catch (error) {
    if (error !== stopRequested) {
      code = 1;
      reportError(error);
    }
  }
  end.abort(stopRequested);
  if (processes.any) console.log('Stopping …');
  removeEnvironment();
  await processes.stop();
  process.exit(code);
}

/**
 * @param {string[]} args
 * @returns {boolean} whether --logs is given
 */
function readArguments(args) {
  try {
    return parseArgs({ args, options: { logs: { type: 'boolean', default: false } } }).values.logs;
  } catch {
    throw new UserError('Usage: npm start [-- --logs]');
  }
}

/**
 * @param {AbortController} end
 * @param {Processes} processes
 */
function endOnSignal(end, processes) {
  let firstAt = 0;
  const onSignal = () => {
    if (firstAt === 0) {
      firstAt = performance.now();
      end.abort(stopRequested);
    } else if (performance.now() - firstAt > 1000) {
      // A second signal within this time is from the same Ctrl-C: the terminal sends one, and npm forwards another.
      void processes.stop({ hurry: true });
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
}

/** @param {Run} run */
async function startAll({ processes, end, showLogs, commandAt }) {
  const ports = await choosePorts();
  await prepare(processes);

  const { startServices } = await import('../services/services.mjs'); // needs the packages
  const services = await startServices({ processes, throwaway: false, log: console.log });
  const smtpUrl = ports.mailbox === null ? null : await startMailbox(ports.mailbox);
  const env = commonEnvironment(ports, services, smtpUrl);
  const supervisor = new Supervisor({
    signal: end.signal,
    log: console.log,
    giveUp: (error) => end.abort(error),
  });
  for (const service of services.started) supervisor.watch(service, service.restart);
  await runNpm(processes, ['run', '--silent', 'migrate'], { title: 'npm run migrate', env });

  console.log('Starting …');
  const simulated = ports.simulator !== null;
  // Before the worker starts, because its first run aggregates the history: otherwise the health page would report it as late for a minute.
  const seeded = await seed(env, simulated);
  const started = await Promise.all(
    apps(ports, env).map(async (app) => {
      const start = () => startUntilReady({ processes, end, showLogs }, app);
      const running = await start();
      supervisor.watch(running, start);
      return running;
    }),
  );
  const simulator = `http://127.0.0.1:${ports.simulator}`;
  if (simulated) await offerNewAccount(env, simulator);
  recordEnvironment(env);
  console.log(
    banner(ports, env, seeded, {
      tookMs: performance.now() - commandAt,
      logFolder: showLogs ? null : '.data/logs',
      workerPid: started.find(({ name }) => name === 'worker')?.pid,
    }),
  );
  if (!simulated) return;
  void generateTraffic({
    api: `http://${reachedAt(env['HOST'])}:${ports.api}`,
    simulator,
    keys: { test: seeded.test.key, live: seeded.live.key },
    signal: end.signal,
  });
}

/**
 * Starts a process and waits until it is ready.
 * @param {Pick<Run, 'processes' | 'end' | 'showLogs'>} run
 * @param {import('./apps.mjs').App} app
 * @throws {UserError} when it ends before that; with the last lines of its log, where they are not on the screen
 */
async function startUntilReady({ processes, end, showLogs }, app) {
  const { logs } = processes;
  const started = await startApp(processes, app, showLogs ? console.log : logs.open(app.name));
  const waiting = new AbortController();
  const endedEarly = started.exited.then((how) => {
    const tail = showLogs ? '' : `${logs.tail(app.name, TAIL_LINES)}\n`;
    throw new UserError(`${tail}The ${app.name} process ended by itself (${how}) before it was ready.`);
  });
  try {
    await Promise.race([ready(app, AbortSignal.any([end.signal, waiting.signal])), endedEarly]);
    return started;
  } finally {
    waiting.abort();
    endedEarly.catch(() => {});
  }
}
