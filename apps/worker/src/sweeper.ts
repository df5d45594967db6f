import {
  deleteDueAccounts,
  deleteEndedKeys,
  deleteOldRefusedRequests,
  expireCredits,
} from '@onecode/store/accounts';
import { deleteExpiredVerifications } from '@onecode/store/mails';
import { deleteOldIncidents, deleteOldProcesses, mergeOldTraffic } from '@onecode/store/operations';
import { deleteOldBlocks } from '@onecode/store/senders';
import { eraseExpiredCodes, retainOnwards } from '@onecode/store/sends';
import { deleteEndedTries } from '@onecode/store/users';
import type { WorkerContext } from './context.js';

const BATCH = 500;

/** Repeats `batch` until it handles fewer than `count` rows. */
async function untilFewer(count: number, batch: () => Promise<number>): Promise<void> {
  while ((await batch()) >= count);
}

/** Deletes what is kept for a limited time, erases the codes that can be sent no more, and lets credits expire. */
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
  await deleteOldProcesses(database);
}

/**
 * Masks the numbers and deletes the sends and accounts whose time is over. Apart from the clean-up, because a backlog of millions takes
 * hours: nothing waits for it.
 *
 * @param stopping leaves the rest for another time
 */
export async function retain(
  { database, log }: Pick<WorkerContext, 'database' | 'log'>,
  stopping: AbortSignal,
): Promise<void> {
  // An account that cannot be deleted holds up no other retention.
  const [accounts, retained] = await Promise.allSettled([
    deleteDueAccounts(database, stopping),
    retainOnwards(database, stopping),
  ]);
  if (accounts.status === 'rejected') throw accounts.reason;
  if (retained.status === 'rejected') throw retained.reason;
  for (const id of accounts.value)
    log.info({ account_id: id }, 'an account was deleted, as its admin had asked');
  const { numbersReplaced, sendsDeleted } = retained.value;
  if (numbersReplaced + sendsDeleted > 0)
    log.info({ numbers_replaced: numbersReplaced, sends_deleted: sendsDeleted }, 'retention');
}
