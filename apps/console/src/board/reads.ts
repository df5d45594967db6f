import { findSendAccount, noteRead, type Actor, type Database } from '@onecode/store';

/**
 * Puts into the audit log what one of the board's answers is about to show somebody: the send that a job names, or, for lists, that
 * they looked through the jobs. By the answer and the board's own route, since one address can be written in many ways.
 *
 * @param route the pattern of the board's route
 * @param answer as `answerView` leaves it
 * @throws when it cannot be logged: then it must not be shown
 */
export async function noteShown(
  database: Database,
  reader: Actor & { id: string },
  route: string,
  answer: object,
): Promise<void> {
  if (route === '/api/queues')
    await noteRead(database, reader, { action: 'board.read', accountId: null, subject: 'jobs' });
  const { job } = answer as { job?: { data?: { sendId?: string } } };
  const sendId = job?.data?.sendId;
  if (sendId === undefined) return;
  const account = await findSendAccount(database, sendId);
  await noteRead(database, reader, {
    action: 'send.read',
    accountId: account?.id ?? null,
    subject: sendId,
  });
}
