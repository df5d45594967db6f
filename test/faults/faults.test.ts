import { keepResult, summary, table, writePage } from './report.js';
import { runFaults, type RunOptions } from './run.js';
import { everything, named, oneOfEach } from './schedule.js';

const { FAULTS_SECONDS, FAULTS_SEED, FAULTS_ONLY, FAULTS_WRITE_DOCS } = process.env;
const SEED = Number(FAULTS_SEED ?? 20_261_120);

/** Goals of a machine that has nothing else to do. */
const GOALS = { resumedMs: 5_000, resumedMsMax: 15_000, redis202MsMax: 500 };
/** Beside other tests, times say little; only what never comes is a fault. */
const LENIENT = { resumedMs: 60_000, resumedMsMax: 60_000, redis202MsMax: 10_000 };

const LONG: Omit<RunOptions, 'seed' | 'say'> = {
  accounts: 200,
  sendsPerSecond: 12,
  goals: GOALS,
  schedule: (random) => (FAULTS_ONLY === undefined ? everything(random) : named(FAULTS_ONLY)),
  seconds: Number(FAULTS_SECONDS ?? 0),
};
const SHORT: Omit<RunOptions, 'seed' | 'say'> = {
  accounts: 40,
  sendsPerSecond: 12,
  goals: LENIENT,
  schedule: (random) => oneOfEach(random, 2_500),
  seconds: 600,
};

/** The start, the last fault, and the rest after it. */
const AROUND_SECONDS = 600;

const isLong = FAULTS_SECONDS !== undefined;
const options = isLong ? LONG : SHORT;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

it(
  'nothing is lost, nothing happens twice and all goes on by itself, whatever breaks under load',
  async () => {
    say(`The seed is ${SEED}.`);
    const result = await runFaults({ ...options, seed: SEED, say });
    say(
      `${summary(result)}\n${table([result])}\nAll of it is in ${keepResult(result, isLong ? 'long' : 'short')}.`,
    );
    if (FAULTS_WRITE_DOCS !== undefined) writePage();
    expect(result.violations).toEqual([]);
    expect(result.faults).toEqual([]);
  },
  (options.seconds + AROUND_SECONDS) * 1000,
);
