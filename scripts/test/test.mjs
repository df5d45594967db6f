import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { buildConsole, buildSdk, buildSite, installAndCompile, npm, root, step } from '../checkout.mjs';
import { Processes } from '../processes/processes.mjs';
import { reportError, UserError } from '../user-error.mjs';
import { chromiumPath } from './chromium.mjs';
import { JEST_NODE_OPTIONS } from './runWithModules.mjs';

const SLOWEST_MAX = 10;

/**
 * Variables for the checks, for tsc and oxlint, which are written in Go. The checks run at the same time, so threads within one of them
 * cost more than they gain: each thread of tsc and oxlint checks again the types that another thread has checked. Collecting garbage less
 * often takes a fifth less CPU time, and one GB more of memory.
 */
const CHECK_VARIABLES = { GOMAXPROCS: '1', GOGC: '300' };

/** @typedef {{ passed: number, failed: number, skipped: number }} Summary */

/**
 * `npm test [-- JEST ARGUMENTS]`: runs the checks and the tests on throwaway services, and shares nothing with .data. `--all`, which is
 * `npm run test:all`, adds the slow lint rules and the files that end with `.full.test.ts`, and sets ALL_TESTS=1 for tests that do more
 * then. With the name of a test file it builds what the file needs and runs it, without type check and lint. The last line of the output
 * is always `N passed, N failed`; a step that fails before the tests counts as one failure.
 * @param {string[]} args
 */
export async function run(args) {
  const processes = Processes.throwaway();
  const end = new AbortController();
  const ending = new Promise((_, reject) =>
    end.signal.addEventListener('abort', () => reject(end.signal.reason)),
  );
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => end.abort(new UserError(`Stopped by ${signal}.`)));
  }
  /** @type {Summary} */
  let summary = { passed: 0, failed: 1, skipped: 0 };
  try {
    summary = await Promise.race([checkAndTest(processes, args), ending]);
  } catch (error) {
    reportError(error);
  }
  await processes.stop();
  const { passed, failed, skipped } = summary;
  if (skipped > 0) console.log(`${skipped} skipped`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

/**
 * @param {Processes} processes
 * @param {string[]} args
 */
async function checkAndTest(processes, args) {
  const jestArgs = args.filter((arg) => arg !== '--all');
  const isFull = jestArgs.length < args.length;
  const files = jestArgs.filter((arg) => !arg.startsWith('-'));
  // A missing browser is downloaded while npm downloads the packages.
  [process.env['CHROMIUM_PATH']] = await Promise.all([
    chromiumPath(console.log),
    installAndCompile(processes),
  ]);
  const needs = needsOf(files);
  // Tests and the type check read the SDK's declarations.
  if (needs.site) await buildSdk(processes);
  const checks = files.length > 0 ? [] : ['typecheck', isFull ? 'lint' : 'lint:fast'];
  // Each of these keeps about one core busy.
  const [{ databaseUrl, redisUrl }] = await Promise.all([
    start(processes),
    needs.site && buildSite(processes),
    needs.console && buildConsole(processes),
    ...checks.map((script) => check(processes, script)),
  ]);
  const { startBrowserServer } = await import('@onecode/testing');
  const browser = await startBrowserServer();
  const env = {
    ...process.env,
    ...(isFull && { ALL_TESTS: '1' }),
    TEST_DATABASE_URL: databaseUrl,
    TEST_REDIS_URL: redisUrl,
    BROWSER_ENDPOINT: browser.wsEndpoint(),
  };
  const results = join(processes.folder, 'results.json');
  const jest = [
    ...JEST_NODE_OPTIONS,
    'node_modules/jest/bin/jest.js',
    '--json',
    `--outputFile=${results}`,
    ...jestArgs,
  ];
  const isPassed = await runStep(processes, {
    command: process.execPath,
    args: jest,
    env: withoutServices(env),
  });
  await browser.close();
  logSlowestFiles(results);
  return summarise(results, isPassed);
}

/**
 * Returns what is built for test files in addition to the packages: the site for those of the API, the SDK and the guides, the web application for
 * those of the console, both for tests of the whole and for all tests, and each where there is none yet.
 * @param {readonly string[]} files as they were typed; all tests when empty
 */
export function needsOf(files) {
  const paths = files.map((file) => relative(root, resolve(root, file)));
  /**
   * @param {RegExp} pattern
   * @param {string} built
   */
  const needs = (pattern, built) =>
    files.length === 0 || paths.some((path) => pattern.test(path)) || !existsSync(join(root, built));
  return {
    site: needs(/apps\/(?:api|docs)|packages\/client|^test\//, 'apps/docs/dist/site.json'),
    console: needs(/apps\/console|^test\//, 'apps/console/dist/web/index.html'),
  };
}

/** @param {Processes} processes */
async function start(processes) {
  const { startServices } = await import('../services/services.mjs'); // needs the packages
  return startServices({ processes, throwaway: true, log: console.log });
}

/**
 * Runs a script of package.json.
 * @param {Processes} processes
 * @param {string} script
 * @throws {UserError} when it fails
 */
async function check(processes, script) {
  console.log(`npm run ${script} …`);
  const isPassed = await runStep(processes, {
    ...npm(['run', '--silent', script]),
    env: { ...process.env, ...CHECK_VARIABLES },
  });
  if (!isPassed) throw new UserError(`npm run ${script} failed.`);
}

/**
 * Runs a step with its output passed through.
 * @param {Processes} processes
 * @param {{ command: string, args: string[], env: NodeJS.ProcessEnv }} what
 * @returns {Promise<boolean>} whether its exit code was 0
 */
async function runStep(processes, what) {
  const { exited } = await processes.start({ ...step, ...what, name: 'step', output: 'inherit' });
  return (await exited) === 'exit code 0';
}

/**
 * Tests read only variables with "TEST" in their names, so that they cannot reach a real database by accident.
 * @param {NodeJS.ProcessEnv} env
 */
function withoutServices({ DATABASE_URL: _database, REDIS_URL: _redis, ...env }) {
  return env;
}

/**
 * Reads Jest's own result file. A test file that could not run counts as one failure, and so does a run that ended with another
 * exit code than 0 or ran nothing: no line says "0 failed" unless tests ran and all passed.
 * @param {string} resultFile as written by `--json --outputFile`
 * @param {boolean} isPassed whether Jest's exit code was 0
 * @returns {Summary}
 */
export function summarise(resultFile, isPassed) {
  const result = readResults(resultFile);
  const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
  const isClean = isPassed && result.numPassedTests > 0;
  return {
    passed: result.numPassedTests,
    failed: isClean ? failed : Math.max(failed, 1),
    skipped: result.numPendingTests + result.numTodoTests,
  };
}

/**
 * Prints the slowest test files, the slowest first.
 * @param {string} resultFile
 */
function logSlowestFiles(resultFile) {
  const files = slowestFiles(resultFile);
  if (files.length < 2) return;
  console.log('\nThe slowest test files, in seconds:');
  for (const { file, seconds } of files) console.log(`${seconds.toFixed(1).padStart(7)}  ${file}`);
}

/**
 * @param {string} resultFile as written by `--json --outputFile`
 * @returns {{ file: string, seconds: number }[]} ten at most; file: from the root folder
 */
export function slowestFiles(resultFile) {
  return readResults(resultFile)
    .testResults.map(({ name, startTime, endTime }) => ({
      file: relative(root, name),
      seconds: (endTime - startTime) / 1000,
    }))
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, SLOWEST_MAX);
}

/**
 * The used part of Jest's result file; times in milliseconds.
 * @typedef {object} JestResults
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numRuntimeErrorTestSuites
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {{ name: string, startTime: number, endTime: number }[]} testResults
 */

/**
 * @param {string} file
 * @returns {JestResults}
 */
function readResults(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {
      numPassedTests: 0,
      numFailedTests: 0,
      numRuntimeErrorTestSuites: 0,
      numPendingTests: 0,
      numTodoTests: 0,
      testResults: [],
    };
  }
}
