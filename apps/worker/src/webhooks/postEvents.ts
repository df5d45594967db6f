import { decrypt, signEvent } from '@onecode/domain';
import { repeatedFaults } from '@onecode/runtime';
import { endEntry, postponeEntry, takeDueEvents, type DueEvent } from '@onecode/store/mails';
import type { WorkerContext } from '../context.js';
import type { Poster } from './poster.js';

/** Concurrent posts of one worker, at most one for each account. */
const RECEIVERS_MAX = 50;

export type EventContext = Pick<WorkerContext, 'database' | 'secretKey' | 'log'> & {
  poster: Poster;
};

/**
 * Returns a loop run that posts the due events of accounts to their webhooks. A run does not wait for responses, so a slow receiver does
 * not delay other accounts.
 */
export function createEventRun(context: EventContext): {
  run: () => Promise<void>;
  ended: () => Promise<void>;
} {
  const { database, log } = context;
  const busy = new Map<string, Promise<void>>();
  const onFault = repeatedFaults(log, 'error', 'event posting failed');
  return {
    async run() {
      if (busy.size >= RECEIVERS_MAX) return;
      for (const event of await takeDueEvents(database, RECEIVERS_MAX - busy.size, [...busy.keys()])) {
        const posting = postEvent(context, event)
          .catch(onFault)
          .finally(() => busy.delete(event.accountId));
        busy.set(event.accountId, posting);
      }
    },
    async ended() {
      await Promise.all(busy.values());
      await context.poster.close();
    },
  };
}

async function postEvent({ database, secretKey, poster, log }: EventContext, event: DueEvent): Promise<void> {
  const { id, accountId, body, url, tries } = event;
  const facts = { event_id: id, account_id: accountId, tries };
  if (event.isOver) {
    await endEntry(database, event, 'given_up');
    log.info(facts, 'event given up');
    return;
  }
  const timestamp = Math.floor(Date.now() / 1_000);
  const secret = decrypt(secretKey, accountId, event.encryptedSecret);
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Onecode',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signEvent(secret, id, timestamp, body),
  };
  const posted = await poster.post(url, headers, body);
  if ('error' in posted) return postponeEntry(database, event, posted.error);
  const { status } = posted;
  if (status >= 200 && status < 300) return endEntry(database, event, 'sent', status);
  await postponeEntry(database, event, `HTTP ${status}`, status);
}
