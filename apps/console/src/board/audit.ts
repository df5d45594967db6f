import type { Request } from 'express';
import { QUEUE_NAMES } from '@onecode/runtime';
import type { AuditNote } from '@onecode/store';

const QUEUE = `(?<queue>${QUEUE_NAMES.join('|')})`;
const JOB = '(?<job>[0-9]{1,15})';

/**
 * What an operator may do on the board. A job is only a doorbell: whoever rings again finds the send's row as it is, and a job
 * that is lost is enqueued again by the sweep. What is not here would stop deliveries past the kill switches, or write texts of
 * people's into Redis.
 */
const ACTIONS: readonly [name: string, path: RegExp][] = [
  ['retry', new RegExp(`^/queues/${QUEUE}/retry/(?<state>failed)$`)],
  ['retry', new RegExp(`^/queues/${QUEUE}/${JOB}/retry$`)],
  ['promote', new RegExp(`^/queues/${QUEUE}/promote$`)],
  ['promote', new RegExp(`^/queues/${QUEUE}/${JOB}/promote$`)],
  ['clean', new RegExp(`^/queues/${QUEUE}/clean/(?<state>completed|failed)$`)],
  ['clean', new RegExp(`^/queues/${QUEUE}/${JOB}/clean$`)],
  // Somebody may have stopped a queue by other means.
  ['resume', new RegExp(`^/queues/${QUEUE}/resume$`)],
  ['resume', /^\/queues\/resume$/],
];

/** The audit log's note of what a request asks the board to do; null for what nobody may do there. */
export function actionOf({ method, path }: Pick<Request, 'method' | 'path'>): AuditNote | null {
  if (method !== 'PUT') return null;
  for (const [name, pattern] of ACTIONS) {
    const match = pattern.exec(path);
    if (match === null) continue;
    const { queue = null, job, state } = match.groups ?? {};
    return {
      action: `board.${name}`,
      accountId: null,
      subject: queue,
      details: { ...(job !== undefined && { job }), ...(state !== undefined && { state }) },
    };
  }
  return null;
}
