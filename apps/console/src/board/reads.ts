import { QUEUE_NAMES, type QueueName, type Queues } from '@onecode/runtime';
import { findSendAccount, isId, type Database, type Read } from '@onecode/store';

const LIST = /^\/queues\/?$/;
const JOB = new RegExp(`^/queues/(?<queue>${QUEUE_NAMES.join('|')})/(?<job>[0-9]{1,15})/?$`);

/**
 * What a request for something of the board's shows of customers, for the audit log: the send that a job names, or, in lists, that
 * somebody looked through the jobs. Null for what shows no send.
 *
 * @throws when Redis does not say what the job holds
 */
export async function readOf(
  { database, queues }: { database: Database; queues: Queues },
  path: string,
): Promise<Read | null> {
  if (LIST.test(path)) return { action: 'board.read', accountId: null, subject: 'jobs' };
  const { queue, job } = JOB.exec(path)?.groups ?? {};
  if (queue === undefined || job === undefined) return null;
  const sendId = (await queues.of(queue as QueueName).getJob(job))?.data.sendId;
  if (sendId === undefined || !isId(sendId)) return null;
  const account = await findSendAccount(database, sendId);
  return { action: 'send.read', accountId: account?.id ?? null, subject: sendId };
}
