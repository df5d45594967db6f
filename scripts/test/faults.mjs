import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { run as runTests } from './test.mjs';

const MINUTES = 10;
/** The time for everything but the faults: the build, the fuzzer's requests, and the rest after the last fault. */
const OTHER_SECONDS = 240;
const FUZZ_REQUESTS = 100_000;

const usage =
  'npm run test:faults [-- --seed N] [--minutes M] [--only TEXT]\n' +
  '  --seed N       repeats the faults of the run that printed it, in the same order\n' +
  `  --minutes M    the length of the run, the fuzzer included (${MINUTES})\n` +
  '  --only TEXT    only the faults whose names contain it, once each, and no fuzzer';

/**
 * `npm run test:faults`: runs the fault suite and the fuzzer in their full length.
 * @param {string[]} args
 */
export async function run(args) {
  const wanted = read(args);
  if (wanted === null) {
    console.error(usage);
    process.exit(1);
  }
  const { seed, minutes, only } = wanted;
  const files = ['test/faults/faults.test.ts', 'test/fuzz/fuzz.test.ts'];
  console.log(`Seed ${seed}: repeat this run with npm run test:faults -- --seed ${seed}`);
  await runTests(['--runInBand', ...(only === undefined ? files : files.slice(0, 1))], {
    checked: false,
    env: {
      FAULTS_SEED: String(seed),
      FAULTS_SECONDS: String(Math.max(30, minutes * 60 - OTHER_SECONDS)),
      ...(only !== undefined && { FAULTS_ONLY: only }),
      FUZZ_REQUESTS: String(FUZZ_REQUESTS),
      FUZZ_SEED: String(seed),
    },
  });
}

/**
 * @param {string[]} args
 * @returns {{ seed: number, minutes: number, only: string | undefined } | null} null when they are wrong
 */
export function read(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
        minutes: { type: 'string', default: String(MINUTES) },
        only: { type: 'string' },
      },
    });
    if (!/^\d{1,10}$/.test(values.seed) || !/^\d{1,3}$/.test(values.minutes) || values.minutes === '0')
      return null;
    return {
      seed: Number(values.seed),
      minutes: Number(values.minutes),
      only: values.only,
    };
  } catch {
    return null;
  }
}
