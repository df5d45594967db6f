import { deleteReports, postponeReports, type StoredReport } from '@onecode/store/sends';
import type { WorkerContext } from './context.js';

type Postponed = Pick<StoredReport<unknown>, 'key' | 'tries'>;

/** With the waits of `postponeReports`, about five minutes. The attempt of a report is always written before that. */
const TRIES_MAX = 10;

const keysOf = (reports: readonly Postponed[]): string[] => reports.map(({ key }) => key);

/** Postpones reports that could not be applied. After five minutes, they are tried each minute, and each failure is logged as an error. */
export async function postponeFailed(
  { database, log }: WorkerContext,
  reports: readonly Postponed[],
  error: unknown,
  facts: object = {},
): Promise<void> {
  await postponeReports(database, keysOf(reports));
  const level = reports.some(({ tries }) => tries >= TRIES_MAX) ? 'error' : 'warn';
  log[level]({ err: error, ...facts }, 'provider report postponed');
}

/** Postpones reports for messages that are not known yet, and deletes reports after ten tries. @returns the deleted reports */
export async function postponeUnmatched<Report extends Postponed>(
  { database }: WorkerContext,
  reports: readonly Report[],
): Promise<Report[]> {
  const exhausted = reports.filter(({ tries }) => tries >= TRIES_MAX);
  await postponeReports(database, keysOf(reports.filter((report) => !exhausted.includes(report))));
  // Another worker may have read the same reports: each is counted once.
  const deleted = new Set(await deleteReports(database, keysOf(exhausted)));
  return exhausted.filter(({ key }) => deleted.has(key));
}
