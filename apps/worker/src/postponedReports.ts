import { refusesValues } from '@onecode/store/client';
import { deleteReports, parkReports, postponeReports, type StoredReport } from '@onecode/store/sends';
import type { WorkerContext } from './context.js';

type Postponed = Pick<StoredReport<unknown>, 'key' | 'tries'>;

/** About five minutes with the waits of `postponeReports`. A report never precedes the write of its attempt by that much. */
const TRIES_MAX = 10;

const isLastTry = ({ tries }: Postponed): boolean => tries + 1 >= TRIES_MAX;
const keysOf = (reports: readonly Postponed[]): string[] => reports.map(({ key }) => key);

/** Postpones reports that could not be applied, and parks those that the database has refused ten times. Other errors may pass. */
export async function postponeOrPark(
  { database, log }: Pick<WorkerContext, 'database' | 'log'>,
  reports: readonly Postponed[],
  error: unknown,
  facts: object = {},
): Promise<void> {
  const parked = refusesValues(error) ? reports.filter(isLastTry) : [];
  await postponeReports(database, keysOf(reports.filter((report) => !parked.includes(report))));
  await parkReports(database, keysOf(parked));
  if (parked.length > 0)
    log.error({ err: error, ...facts }, 'a report of the provider could not be applied, and was parked');
  else
    log.warn({ err: error, ...facts }, 'a report of the provider could not be applied yet: it is postponed');
}

/** Postpones reports whose message is not known yet, and deletes those tried ten times. @returns the deleted ones */
export async function postponeUnmatched<Report extends Postponed>(
  { database }: Pick<WorkerContext, 'database'>,
  reports: readonly Report[],
): Promise<Report[]> {
  const given = reports.filter(({ tries }) => tries >= TRIES_MAX);
  await postponeReports(database, keysOf(reports.filter((report) => !given.includes(report))));
  const deleted = new Set(await deleteReports(database, keysOf(given)));
  return given.filter(({ key }) => deleted.has(key));
}
