import { INVARIANTS } from './check/check.js';
import { crashPointTable, faultTable, keepResult, summary } from './report.js';
import { runFaults, type RunOptions } from './run.js';
import { allFaults, faultsNamed, oneOfEachFamily } from './schedule.js';

const { FAULTS_SECONDS, FAULTS_SEED, FAULTS_ONLY } = process.env;
const SEED = Number(FAULTS_SEED ?? 20_261_120);

/** For a machine with no other work. */
const GOALS = { recoveryMedianMs: 5_000, recoveryMs: 15_000, redisCreationP95Ms: 500 };
/** Beside other tests, times say little: only what never happens is a problem. */
const LENIENT_GOALS = { recoveryMedianMs: 60_000, recoveryMs: 60_000, redisCreationP95Ms: 10_000 };

const LONG: Omit<RunOptions, 'seed' | 'log'> = {
  accounts: 200,
  sendsPerSecond: 12,
  goals: GOALS,
  schedule: (random) => (FAULTS_ONLY === undefined ? allFaults(random) : faultsNamed(FAULTS_ONLY)),
  seconds: Number(FAULTS_SECONDS ?? 0),
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

const isLong = FAULTS_SECONDS !== undefined;
const options = isLong ? LONG : SHORT;
const log = (line: string): void => void process.stderr.write(`${line}\n`);

it(
  'nothing is lost, nothing happens twice and everything recovers by itself, whatever fails under load',
  async () => {
    log(`The seed is ${SEED}.`);
    const result = await runFaults({ ...options, seed: SEED, log });
    log([summary(result), faultTable(result, 'fault'), faultTable(result, 'family')].join('\n\n'));
    if (isLong) log(crashPointTable(result));
    log(`The whole result is in ${keepResult(result, isLong ? 'long' : 'short')}.`);
    const promises = new Map(INVARIANTS.map(({ name, promise }) => [name, promise]));
    const broken = result.violations.map((one) => ({ ...one, promise: promises.get(one.invariant) }));
    expect(broken).toEqual([]);
    expect(result.problems).toEqual([]);
  },
  (options.seconds + AROUND_SECONDS) * 1000,
);
