import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Processes } from '../scripts/processes/processes.mjs';
import { UserError } from '../scripts/user-error.mjs';
import { prepare, root, runNpm } from '../scripts/checkout.mjs';
import { readOptions } from './options.mjs';
import { table } from './table.mjs';

/**
 * @typedef {import('./options.mjs').Options} Options
 *
 * @typedef {object} House  what a suite runs on: services of its own, migrated, with nothing in them
 * @property {Processes} processes
 * @property {string} databaseUrl
 * @property {string} redisUrl
 * @property {number} postgres the pid of its first process
 * @property {number} redis its pid
 *
 * @typedef {object} Result
 * @property {import('./table.mjs').Line[][]} tables
 * @property {string[]} missed what does not keep its goal
 * @property {object} figures for the file
 */

/** As for a server under such load: with what it comes with, it says itself that its checkpoints come too often. */
const POSTGRES = ['shared_buffers=1GB', 'max_wal_size=8GB'];

/** Each suite by its name: it measures, and says what its goal is. */
const SUITES =
  /** @type {Record<string, () => Promise<{ goal: string, measure: (house: House, options: Options) => Promise<Result> }>>} */ ({
    console: () => import('./console/suite.mjs'),
    paths: () => import('./paths/suite.mjs'),
  });

/**
 * Runs the benchmark's suites, all of them or those named, prints their tables and leaves the figures in
 * `.data/bench/NAME.json`. The exit code is 1 when a goal was missed.
 * @param {string[]} args
 */
export async function run(args) {
  const options = readOptions(args, Object.keys(SUITES));
  const processes = Processes.throwaway();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void processes.stop().then(() => process.exit(1)));
  let met = false;
  try {
    const house = await open(processes);
    const results = [];
    for (const name of options.suites) results.push(await runSuite(name, house, options));
    met = results.every(Boolean);
  } catch (error) {
    console.error(error instanceof UserError ? error.message : error);
  }
  await processes.stop();
  process.exit(met ? 0 : 1);
}

/**
 * Services of its own even where others are given: it writes millions of rows, and its figures need settings that are known.
 * @param {Processes} processes
 * @returns {Promise<House>}
 */
async function open(processes) {
  await prepare(processes);
  const { startPostgres } = await import('../scripts/services/postgres.mjs'); // needs the packages
  const { startRedis } = await import('../scripts/services/redis.mjs');
  const wanted = { processes, throwaway: false, log: console.log };
  const postgres = await startPostgres({ ...wanted, settings: POSTGRES });
  const redis = await startRedis(wanted);
  const env = { ...process.env, DATABASE_URL: postgres.url };
  await runNpm(processes, ['run', '--silent', 'migrate'], { title: 'npm run migrate', env });
  return {
    processes,
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    postgres: postgres.pid,
    redis: redis.pid,
  };
}

/**
 * @param {string} name
 * @param {House} house
 * @param {Options} options
 * @returns {Promise<boolean>} whether every figure keeps its goal
 */
async function runSuite(name, house, options) {
  const { goal, measure } = await /** @type {() => Promise<any>} */ (SUITES[name])();
  console.log(`\n${name}: ${goal}`);
  const { tables, missed, figures } = /** @type {Result} */ (await measure(house, options));
  for (const lines of tables) console.log(`\n${table(lines)}`);
  const folder = join(root, '.data/bench');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({ at: new Date(), goal, ...figures, missed }, null, 2),
  );
  console.log(
    missed.length === 0 ? '\nEvery figure keeps its goal.' : `\n${missed.length} figures miss their goal.`,
  );
  return missed.length === 0;
}
