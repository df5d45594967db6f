import { Processes } from '../processes/processes.mjs';
import { Refusal } from '../refusal.mjs';
import { runNpm } from '../setup/npm.mjs';
import { prepare } from '../setup/prepare.mjs';
import { apps, ready, startApp } from './apps.mjs';
import { demonstration } from './demonstration.mjs';
import { choosePorts, commonEnvironment, dataFolder, readEnvFile } from './settings.mjs';
import { traffic } from './traffic.mjs';
import { welcome } from './welcome.mjs';

/** The reason for ending that is no failure. */
const asked = Symbol('asked to stop');

/**
 * Starts everything and stays until something ends it. The exit code is 0 after SIGINT, SIGTERM or SIGHUP, and 1 when
 * something could not start or has died. A second signal hurries the stopping.
 */
export async function run() {
  const beganAt = performance.now();
  process.stdout.on('error', () => {}); // the terminal went away; SIGHUP comes too
  readEnvFile();
  const processes = await Processes.claim(dataFolder);
  const end = new AbortController();
  const aborted = new Promise((_, reject) =>
    end.signal.addEventListener('abort', () => reject(end.signal.reason)),
  );
  endOnSignal(end, processes);
  let code = 0;
  try {
    await Promise.race([startAll(processes, end, beganAt), aborted]);
    await aborted;
  } catch (error) {
    if (error !== asked) {
      code = 1;
      console.error(error instanceof Refusal ? error.message : error);
    }
  }
  end.abort(asked);
  if (processes.any) console.log('Stopping …');
  await processes.stop();
  process.exit(code);
}

/**
 * @param {AbortController} end
 * @param {Processes} processes
 */
function endOnSignal(end, processes) {
  let firstAt = 0;
  const hear = () => {
    if (firstAt === 0) {
      firstAt = performance.now();
      end.abort(asked);
    } else if (performance.now() - firstAt > 1000) {
      // Sooner, it is the same Ctrl-C: the terminal sends it, and npm passes it on.
      void processes.stop({ hurry: true });
    }
  };
  process.on('SIGINT', hear).on('SIGTERM', hear).on('SIGHUP', hear);
}

/**
 * @param {Processes} processes
 * @param {AbortController} end
 * @param {number} beganAt
 */
async function startAll(processes, end, beganAt) {
  const ports = await choosePorts();
  await prepare(processes);

  const { startServices } = await import('../services.mjs'); // needs the packages
  const services = await startServices({ processes, throwaway: false, say: console.log });
  for (const service of services.started) endWith(service, end);
  const env = commonEnvironment(ports, services);
  await runNpm(processes, ['run', '--silent', 'migrate'], { title: 'npm run migrate', env });

  console.log('Starting …');
  const wanted = apps(ports, env);
  for (const app of wanted) endWith(await startApp(processes, app, console.log), end);
  await Promise.all(wanted.map((app) => ready(app, end.signal)));
  const demo = await demonstration(env, ports.simulator !== null);
  console.log(welcome(ports, env, demo, performance.now() - beganAt));
  if (ports.simulator === null) return;
  void traffic({
    api: `http://127.0.0.1:${ports.api}`,
    simulator: `http://127.0.0.1:${ports.simulator}`,
    keys: { test: demo.test.key, live: demo.live.key },
    signal: end.signal,
  });
}

/**
 * When one process dies, everything ends.
 * @param {{ name: string, exited: Promise<string> }} started
 * @param {AbortController} end
 */
function endWith({ name, exited }, end) {
  void exited.then((how) => end.abort(new Refusal(`The ${name} process ended by itself (${how}).`)));
}
