import { decrypt, signEvent } from '@onecode/domain';
import { repeatedFaults } from '@onecode/runtime';
import { endEventWebhook } from '@onecode/store/accounts';
import { endEntry, postponeEntry, takeDueEvents, type DueEvent } from '@onecode/store/mails';
import type { WorkerContext } from '../context.js';
import type { Poster } from './poster.js';

/** Receivers that one worker waits for at a time, each for one event. */
const RECEIVERS_MAX = 50;
const GONE = 410;

export type EventContext = Pick<WorkerContext, 'database' | 'secretKey' | 'log' | 'releaseClaims'> & {
  poster: Poster;
};

/** Posts the events of accounts to their webhooks. A round waits for no receiver: a slow one holds up no other account. */
export function createEventRound(context: EventContext): {
  round: () => Promise<void>;
  ended: () => Promise<void>;
} {
  const { database, log, releaseClaims } = context;
  const busy = new Map<string, Promise<void>>();
  const onFault = repeatedFaults(log, 'error', 'an event was not posted', {});
  return {
    async round() {
      if (releaseClaims.aborted || busy.size >= RECEIVERS_MAX) return;
      for (const event of await takeDueEvents(database, RECEIVERS_MAX - busy.size, [...busy.keys()])) {
        const posting = postOne(context, event)
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

async function postOne(
  { database, secretKey, poster, releaseClaims, log }: EventContext,
  event: DueEvent,
): Promise<void> {
  const { id, accountId, body, url, tries } = event;
  const facts = { event_id: id, account_id: accountId, tries };
  if (event.isOver) {
    await endEntry(database, event, 'given_up');
    log.info(facts, 'an event was given up: its webhook did not take it in time');
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
  const posted = await poster.post(url, headers, body, releaseClaims);
  // The lease ends, and another worker posts it again.
  if ('error' in posted && releaseClaims.aborted) return;
  if ('error' in posted) return postponeEntry(database, event, posted.error);
  const { status } = posted;
  if (status >= 200 && status < 300) return endEntry(database, event, 'sent', status);
  if (status === GONE) return endEventWebhook(database, accountId, url);
  await postponeEntry(database, event, `HTTP ${status}`, status);
}
