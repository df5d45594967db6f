import { createRequire } from 'node:module';

/** @type {typeof import('@jest/test-sequencer')} */
const { default: TestSequencer } = createRequire(import.meta.url)('@jest/test-sequencer');

/** The test files that take longest, by the table that `npm test` prints. One that began last would run alone at the end. */
const LONGEST = [
  'test/faults/faults.test.ts',
  'test/console/journeys.test.ts',
  'apps/worker/test/process.test.ts',
  'apps/console/test/pages/everyPage.full.test.ts',
  'test/processes.full.test.ts',
  'test/journey.test.ts',
  'apps/cli/test/doctor.test.ts',
  'test/findings.full.test.ts',
  'packages/store/test/client/database.test.ts',
  'test/telemetry.test.ts',
  'test/examples/examples.full.test.ts',
  'test/clients/clients.full.test.ts',
];

/** Begins with the longest test files, and leaves the others in Jest's order. */
export default class extends TestSequencer {
  /**
   * @override
   * @param {Parameters<InstanceType<typeof TestSequencer>['sort']>[0]} tests
   */
  async sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- a sequencer is no array
    const inOrder = await super.sort(tests);
    return inOrder.toSorted((one, other) => rank(one) - rank(other));
  }
}

/** @param {{ path: string }} test */
function rank({ path }) {
  const index = LONGEST.findIndex((file) => path.endsWith(`/${file}`));
  return index === -1 ? LONGEST.length : index;
}
