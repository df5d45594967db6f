import { breakerTrips } from '@onecode/domain';
import { deleteDueAccount, expireCredits, readBreakerEvidence, tripBreaker } from '@onecode/store/accounts';
import { countDeliveryHours, deleteOldRefusedRequests } from '@onecode/store/reports';
import { deleteExpiredVerifications } from '@onecode/store/mails';
import { deleteOldIncidents, deleteOldProcesses, mergeOldTraffic } from '@onecode/store/operations';
import { eraseExpiredCodes, applyRetention } from '@onecode/store/sends';
import { deleteEndedTries, deleteEndedKeys, deleteOldInvitations } from '@onecode/store/users';
import type { WorkerContext } from './context.js';

const BATCH = 500;

/** Repeats work until it handles fewer rows than its limit. */
async function untilDone(work: (limit: number) => Promise<number>): Promise<void> {
  while ((await work(BATCH)) >= BATCH);
}

/**
 * Deletes data after its retention, erases codes that can no longer be sent, expires credits, and counts deliveries.
 *
 * @param stopping ends the counting early
 */
export async function cleanUp({ database }: WorkerContext, stopping: AbortSignal): Promise<void> {
  await untilDone((limit) => eraseExpiredCodes(database, limit));
  await untilDone((limit) => deleteOldRefusedRequests(database, limit));
  await expireCredits(database);
  await deleteEndedKeys(database);
  await deleteEndedTries(database);
  await deleteOldInvitations(database);
  await deleteExpiredVerifications(database);
  await deleteOldIncidents(database);
  await mergeOldTraffic(database);
  await deleteOldProcesses(database);
  await countDeliveryHours(database, stopping);
}

/**
 * Masks numbers and deletes sends after their retention. It is separate from `cleanUp` because a backlog of millions takes hours.
 *
 * @param stopping ends the run early; the next run continues
 */
export async function retain({ database, log }: WorkerContext, stopping: AbortSignal): Promise<void> {
  const { numbersReplaced, sendsDeleted } = await applyRetention(database, stopping);
  if (numbersReplaced + sendsDeleted > 0)
    log.info({ numbers_replaced: numbersReplaced, sends_deleted: sendsDeleted }, 'retention applied');
}

/** Deletes an account after its scheduled time. @param stopping as for `retain` */
export async function deleteAccounts({ database, log }: WorkerContext, stopping: AbortSignal): Promise<void> {
  const id = await deleteDueAccount(database, stopping);
  if (id !== null) log.info({ account_id: id }, 'account deleted');
}

/** Blocks an account's sends to a country when its fraud breaker is on and too few of its codes there are verified. */
export async function watchBreakers({ database, log }: WorkerContext): Promise<void> {
  for (const evidence of await readBreakerEvidence(database)) {
    if (!breakerTrips(evidence.rule, evidence)) continue;
    // All workers see the same counts. Only the worker that trips the breaker logs it.
    if (!(await tripBreaker(database, evidence))) continue;
    const { accountId, country, sends, unverified } = evidence;
    log.warn({ account_id: accountId, country, sends, unverified }, 'fraud breaker tripped');
  }
}
