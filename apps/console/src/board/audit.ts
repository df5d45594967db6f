import type { Request } from 'express';
import { QUEUE_NAMES } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import { logRead, type Actor, type NewAuditEntry } from '@onecode/store/operations';
import { findSendAccount } from '@onecode/store/reports';

const QUEUE = `(?<queue>${QUEUE_NAMES.join('|')})`;
const JOB = '(?<job>[0-9]{1,15})';

/**
 * The changes that operators may make on the board. A job never has to be retried: it only wakes a worker, and workers claim every due send
 * without one. Other changes would block deliveries without a hold, or write user input into Redis.
 */
const ACTIONS: readonly [name: string, path: RegExp][] = [
  ['clean', new RegExp(`^/queues/${QUEUE}/clean/(?<state>completed|failed)$`)],
  ['clean', new RegExp(`^/queues/${QUEUE}/${JOB}/clean$`)],
  // A queue may have been paused by other means than the board.
  ['resume', new RegExp(`^/queues/${QUEUE}/resume$`)],
  ['resume', /^\/queues\/resume$/],
];

/** Returns the audit entry of a change that the board allows; null for any other request. */
export function actionOf({ method, path }: Pick<Request, 'method' | 'path'>): NewAuditEntry | null {
  if (method !== 'PUT') return null;
  for (const [name, pattern] of ACTIONS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const { queue = null, job, state } = match.groups ?? {};
    return {
      action: `board.${name}`,
      subject: queue,
      details: { ...(job !== undefined && { job }), ...(state !== undefined && { state }) },
    };
  }
  return null;
}

/**
 * Adds to the audit log what a response of the board is about to show: the send of a job, or, for a list, that the user viewed
 * the jobs. It uses the response and the board's own route, because the same URL can be written in many ways.
 *
 * @param route the pattern of the board's route
 * @param answer as `redactAnswer` leaves it
 * @throws when the log cannot be written; then the response must not be shown
 */
export async function logShown(
  database: Database,
  reader: Actor & { id: string },
  route: string,
  answer: object,
): Promise<void> {
  if (route === '/api/queues')
    await logRead(database, reader, { action: 'board.read', accountId: null, subject: 'jobs' });
  const { job } = answer as { job?: { data?: { sendId?: string } } };
  const sendId = job?.data?.sendId;
  if (sendId === undefined) return;
  const account = await findSendAccount(database, sendId);
  await logRead(database, reader, {
    action: 'send.read',
    accountId: account?.id ?? null,
    subject: sendId,
  });
}
