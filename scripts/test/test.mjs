import { join } from 'node:path';
import { Processes } from '../processes/processes.mjs';
import { Refusal } from '../refusal.mjs';
import { npm, step } from '../setup/npm.mjs';
import { prepare } from '../setup/prepare.mjs';
import { chromiumPath } from './chromium.mjs';
import { summarise } from './summary.mjs';

/**
 * @typedef {object} Length
 * @property {boolean} [checked] false leaves out the type check, the lint and the browser
 * @property {NodeJS.ProcessEnv} [env] more variables for the tests
 */

/**
 * Runs the checks and the tests on throwaway services, and shares nothing with .data. The last line of the output is
 * always `N passed, N failed`; a step that fails before the tests counts as one failure.
 * @param {string[]} jestArgs
 * @param {Length} [length]
 */
export async function run(jestArgs, length = {}) {
  const processes = Processes.throwaway();
  const end = new AbortController();
  const aborted = new Promise((_, reject) =>
    end.signal.addEventListener('abort', () => reject(end.signal.reason)),
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => end.abort(new Refusal(`Stopped by ${signal}.`)));
  }
  /** @type {import('./summary.mjs').Summary} */
  let summary = { passed: 0, failed: 1, skipped: 0 };
  try {
    summary = await Promise.race([checkAndTest(processes, jestArgs, length), aborted]);
  } catch (error) {
    console.error(error instanceof Refusal ? error.message : error);
  }
  await processes.stop();
  if (summary.skipped > 0) console.log(`${summary.skipped} skipped`);
  console.log(`${summary.passed} passed, ${summary.failed} failed`);
  process.exit(summary.failed === 0 ? 0 : 1);
}

/**
 * @param {Processes} processes
 * @param {string[]} jestArgs
 * @param {Length} length
 */
async function checkAndTest(processes, jestArgs, { checked = true, env: more = {} }) {
  await prepare(processes);
  for (const script of checked ? ['typecheck', 'lint'] : []) {
    console.log(`npm run ${script} …`);
    const ended = await pass(processes, { ...npm(['run', '--silent', script]), env: process.env });
    if (!ended) throw new Refusal(`npm run ${script} failed.`);
  }
  const chromium = checked ? chromiumPath(console.log) : undefined;
  const { startServices } = await import('../services.mjs'); // needs the packages
  const { databaseUrl, redisUrl } = await startServices({
    processes,
    throwaway: true,
    say: console.log,
  });
  const env = {
    ...process.env,
    ...more,
    CHROMIUM_PATH: chromium,
    TEST_DATABASE_URL: databaseUrl,
    TEST_REDIS_URL: redisUrl,
  };
  const results = join(processes.folder, 'results.json');
  const node = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'];
  const args = [...node, 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${results}`, ...jestArgs];
  const endedWell = await pass(processes, { command: process.execPath, args, env: withoutServices(env) });
  return summarise(results, endedWell);
}

/**
 * Runs a step with its output passed through.
 * @param {Processes} processes
 * @param {{ command: string, args: string[], env: NodeJS.ProcessEnv }} what
 * @returns {Promise<boolean>} whether it ended well
 */
async function pass(processes, what) {
  const { exited } = await processes.start({ ...step, ...what, name: 'step', output: 'inherit' });
  return (await exited) === 'exit code 0';
}

/**
 * Tests take the services by the names that say "test", so that none can meet a real database by accident.
 * @param {NodeJS.ProcessEnv} env
 */
function withoutServices({ DATABASE_URL: _database, REDIS_URL: _redis, ...env }) {
  return env;
}
