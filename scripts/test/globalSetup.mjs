import { findKeptServices, startTestServices } from './testServices.mjs';

/** @type {import('./testServices.mjs').TestServices | undefined} */
let started;

/**
 * Before a run of Jest: sets the variables of the tests' services. `npm test` sets them itself; otherwise they are those of
 * `npm run services`, or services of this run. A watching Jest keeps its own from run to run.
 */
export default async function setUp() {
  if (process.env['TEST_DATABASE_URL'] !== undefined) return;
  Object.assign(process.env, (await findKeptServices()) ?? (started = await startTestServices()).env);
}

/**
 * After a run of Jest.
 * @param {{ watch: boolean, watchAll: boolean }} run
 */
export async function tearDown({ watch, watchAll }) {
  if (!watch && !watchAll) await started?.stop();
}
