import { randomInt } from 'node:crypto';
import { faultTable, summary } from './report.js';
import { runFaults, type RunOptions, type RunResult } from './run.js';
import { allFaults, faultsNamed, shortFaults } from './schedule.js';

/**
 * `npm test` injects a few faults; `npm run test:all` injects all of them in turn for FAULTS_SECONDS, or each with a name that
 * contains FAULTS_ONLY. A run prints its seed, and FAULTS_SEED repeats it.
 */
const isLong = process.env['ALL_TESTS'] === '1';
const {
  FAULTS_SECONDS = '360',
  FAULTS_SEED = isLong ? String(randomInt(1, 2 ** 31)) : '20261120',
  FAULTS_ONLY,
} = process.env;
const SEED = Number(FAULTS_SEED);

/** Next to other tests, times are unreliable: only missing recoveries are problems. A run prints a table with the times. */
const GOALS = { recoveryMedianMs: 60_000, recoveryMs: 60_000, redisCreationP95Ms: 10_000 };

const LONG: Omit<RunOptions, 'seed' | 'log'> = {
  accounts: 200,
  sendsPerSecond: 12,
  clientsMin: 0,
  goals: GOALS,
  schedule: (random) => (FAULTS_ONLY === undefined ? allFaults(random) : faultsNamed(FAULTS_ONLY)),
  seconds: Number(FAULTS_SECONDS),
};
const SHORT: Omit<RunOptions, 'seed' | 'log'> = {
  accounts: 20,
  sendsPerSecond: 4,
  clientsMin: 80,
  goals: GOALS,
  schedule: shortFaults,
  seconds: 600,
};

/** For the start, the last fault and the work after it. */
const AROUND_SECONDS = 600;

const options = isLong ? LONG : SHORT;
const log = (line: string): void => void process.stderr.write(`${line}\n`);

let result: RunResult;
beforeAll(
  async () => {
    log(`FAULTS_SEED=${SEED}`);
    result = await runFaults({ ...options, seed: SEED, log });
    log(`${summary(result)}\n${faultTable(result)}`);
  },
  (options.seconds + AROUND_SECONDS) * 1000,
);

it('no fault loses or repeats a send under load, and the service recovers without help', () => {
  expect(result.violations).toEqual([]);
  expect(result.problems).toEqual([]);
});

if (FAULTS_ONLY === undefined)
  it('the run includes repeated requests, a lack of units, reused keys, and wrong, concurrent and right guesses', () => {
    const creations = result.history.filter((event) => event.kind === 'create');
    const guesses = result.history.filter((event) => event.kind === 'verify');
    const keys = creations.flatMap(({ applicationId, idempotencyKey }) =>
      idempotencyKey === null ? [] : [`${applicationId} ${idempotencyKey}`],
    );
    expect(new Set(keys).size).toBeLessThan(keys.length - 20);
    expect(keys.length).toBeLessThan(creations.length);
    const statuses = creations.map(({ reply }) => (reply.kind === 'lost' ? null : reply.status));
    expect(statuses).toEqual(expect.arrayContaining([202, 402, 409]));
    const judgements = guesses.map(({ reply }) =>
      reply.kind === 'answer' ? `${reply.body.verification}, ${reply.body.attempts_left} left` : null,
    );
    expect(judgements).toEqual(
      expect.arrayContaining(['verified, 0 left', 'pending, 4 left', 'pending, 1 left', 'locked, 0 left']),
    );
    const isConcurrent = guesses.some((one) =>
      guesses.some((other) => one.sendId === other.sendId && one !== other && one.startedAt < other.endedAt),
    );
    expect(isConcurrent).toBe(true);
  });
