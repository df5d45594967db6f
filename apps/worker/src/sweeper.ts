import { deleteDueAccounts, expireCredits } from '@onecode/store/accounts';
import { countDeliveryHours, deleteOldRefusedRequests } from '@onecode/store/reports';
import { deleteExpiredVerifications } from '@onecode/store/mails';
import { deleteOldIncidents, deleteOldProcesses, mergeOldTraffic } from '@onecode/store/operations';
import { deleteOldBlocks } from '@onecode/store/senders';
import { eraseExpiredCodes, retainOnwards } from '@onecode/store/sends';
import { deleteEndedTries, deleteEndedKeys } from '@onecode/store/users';
import type { WorkerContext } from './context.js';

const BATCH = 500;

/** Repeats `batch` until it handles fewer than `count` rows. */
async function untilFewer(count: number, batch: () => Promise<number>): Promise<void> {
  while ((await batch()) >= count);
}

/** Deletes data after its retention, erases codes that can no longer be sent, expires credits, and counts deliveries. */
export async function cleanUp({ database }: Pick<WorkerContext, 'database'>): Promise<void> {
  await untilFewer(BATCH, () => eraseExpiredCodes(database, BATCH));
  await untilFewer(BATCH, () => deleteOldRefusedRequests(database, BATCH));
  await expireCredits(database);
  await deleteEndedKeys(database);
  await deleteEndedTries(database);
  await deleteExpiredVerifications(database);
  await deleteOldBlocks(database);
  await deleteOldIncidents(database);
  await mergeOldTraffic(database);
  await countDeliveryHours(database);
  await deleteOldProcesses(database);
}

/**
 * Masks numbers, and deletes sends and accounts, after their retention. It is separate from `cleanUp` because a backlog of millions takes
 * hours.
 *
 * @param stopping ends the run early; the next run continues
 */
export async function retain(
  { database, log }: Pick<WorkerContext, 'database' | 'log'>,
  stopping: AbortSignal,
): Promise<void> {
  // An account that cannot be deleted does not block the rest.
  const [accounts, retained] = await Promise.allSettled([
    deleteDueAccounts(database, stopping),
    retainOnwards(database, stopping),
  ]);
  if (accounts.status === 'rejected') throw accounts.reason;
  if (retained.status === 'rejected') throw retained.reason;
  for (const id of accounts.value) log.info({ account_id: id }, 'account deleted');
  const { numbersReplaced, sendsDeleted } = retained.value;
  if (numbersReplaced + sendsDeleted > 0)
    log.info({ numbers_replaced: numbersReplaced, sends_deleted: sendsDeleted }, 'retention applied');
}
