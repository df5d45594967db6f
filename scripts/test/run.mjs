import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Processes } from '../processes/processes.mjs';
import { Refusal } from '../refusal.mjs';
import { npm, root } from '../setup/npm.mjs';
import { prepare } from '../setup/prepare.mjs';
import { chromiumPath } from './chromium.mjs';
import { summarise } from './summary.mjs';

/**
 * Runs the checks and the tests on throwaway services, and shares nothing with .data. The last line of the output is
 * always `N passed, N failed`; a step that fails before the tests counts as one failure.
 * @param {string[]} jestArgs
 */
export async function run(jestArgs) {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-test-'));
  const processes = await Processes.claim(folder, { remove: true });
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
    summary = await Promise.race([checkAndTest(processes, folder, jestArgs, end.signal), aborted]);
  } catch (error) {
    console.error(error instanceof Refusal ? error.message : error);
  }
  await processes.stop();
  rmSync(folder, { recursive: true, force: true });
  if (summary.skipped > 0) console.log(`${summary.skipped} skipped`);
  console.log(`${summary.passed} passed, ${summary.failed} failed`);
  process.exit(summary.failed === 0 ? 0 : 1);
}

/**
 * @param {Processes} processes
 * @param {string} folder
 * @param {string[]} jestArgs
 * @param {AbortSignal} signal
 */
async function checkAndTest(processes, folder, jestArgs, signal) {
  await prepare(console.log, signal);
  for (const script of ['typecheck', 'lint']) {
    console.log(`npm run ${script} …`);
    const [command, args] = npm(['run', '--silent', script]);
    if (!(await succeeds(processes, command, args, process.env)))
      throw new Refusal(`npm run ${script} failed.`);
  }
  const chromium = chromiumPath(console.log);
  const { startServices } = await import('../services.mjs'); // needs the packages
  const { databaseUrl, redisUrl } = await startServices({
    processes,
    folder,
    throwaway: true,
    say: console.log,
  });
  const env = {
    ...process.env,
    CHROMIUM_PATH: chromium,
    TEST_DATABASE_URL: databaseUrl,
    TEST_REDIS_URL: redisUrl,
  };
  const results = join(folder, 'results.json');
  const node = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'];
  const args = [...node, 'node_modules/jest/bin/jest.js', '--json', `--outputFile=${results}`, ...jestArgs];
  const endedWell = await succeeds(processes, process.execPath, args, withoutServices(env));
  return summarise(results, endedWell);
}

/**
 * Runs a step with its output passed through.
 * @param {Processes} processes
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 */
async function succeeds(processes, command, args, env) {
  const { exited } = await processes.start({
    name: args.at(-1) ?? command,
    command,
    args,
    env,
    cwd: root,
    output: 'inherit',
    stage: 5,
    stop: [
      ['SIGTERM', 2000],
      ['SIGKILL', 500],
    ],
  });
  return (await exited) === 'exit code 0';
}

/**
 * Tests take the services by the names that say "test", so that none can meet a real database by accident.
 * @param {NodeJS.ProcessEnv} env
 */
function withoutServices({ DATABASE_URL: _database, REDIS_URL: _redis, ...env }) {
  return env;
}
