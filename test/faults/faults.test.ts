import { randomInt } from 'node:crypto';
import { faultTable, keepResult, summary } from './report.js';
import { runFaults, type RunOptions } from './run.js';
import { allFaults, faultsNamed, oneOfEachFamily } from './schedule.js';

/**
 * `npm test` injects a fault of each family; `npm run test:all` injects all of them in turn for FAULTS_SECONDS, or those once whose name
 * contains FAULTS_ONLY. A run prints its seed, and FAULTS_SEED repeats it.
 */
const isLong = process.env['ALL_TESTS'] === '1';
const {
  FAULTS_SECONDS = '360',
  FAULTS_SEED = isLong ? String(randomInt(1, 2 ** 31)) : '20261120',
  FAULTS_ONLY,
} = process.env;
const SEED = Number(FAULTS_SEED);

/** For a machine with no other work. */
const GOALS = { recoveryMedianMs: 5_000, recoveryMs: 15_000, redisCreationP95Ms: 500 };
/** Beside other tests, times say little: only what never happens is a problem. */
const LENIENT_GOALS = { recoveryMedianMs: 60_000, recoveryMs: 60_000, redisCreationP95Ms: 10_000 };

const LONG: Omit<RunOptions, 'seed' | 'log'> = {
  accounts: 200,
  sendsPerSecond: 12,
  goals: GOALS,
  schedule: (random) => (FAULTS_ONLY === undefined ? allFaults(random) : faultsNamed(FAULTS_ONLY)),
  seconds: Number(FAULTS_SECONDS),
};
const SHORT: Omit<RunOptions, 'seed' | 'log'> = {
  accounts: 40,
  sendsPerSecond: 12,
  goals: LENIENT_GOALS,
  schedule: (random) => oneOfEachFamily(random, 2_500),
  seconds: 600,
};

/** For the start, the last fault and the work after it. */
const AROUND_SECONDS = 600;

const options = isLong ? LONG : SHORT;
const log = (line: string): void => void process.stderr.write(`${line}\n`);

it(
  'nothing is lost, nothing happens twice and everything recovers by itself, whatever fails under load',
  async () => {
    log(`FAULTS_SEED=${SEED}`);
    const result = await runFaults({ ...options, seed: SEED, log });
    log(
      `${summary(result)}\n${faultTable([result])}\nThe whole result is in ${keepResult(result, isLong ? 'long' : 'short')}.`,
    );
    expect(result.violations).toEqual([]);
    expect(result.problems).toEqual([]);
  },
  (options.seconds + AROUND_SECONDS) * 1000,
);
