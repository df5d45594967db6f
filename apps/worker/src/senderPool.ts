import { LRUCache } from 'lru-cache';
import { pauseSeconds, type AvailableSender, type Outcome, type Send } from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import { blockCountry, listAvailableSenders, recoverSender, restSender, type Database } from '@onecode/store';
import type { WorkerMetrics } from './metrics.js';

/** Milliseconds for which the list of available senders is remembered. */
const REMEMBERED_MS = 1_000;
/** Seconds for which a sender keeps off a country that the provider forbids to it. */
const COUNTRY_BLOCK_SECONDS = 3_600;

type Fault = Extract<Outcome, { kind: 'sender' | 'config' }>;

/** The senders that may send now, and what becomes of them by the provider's answers. */
export interface SenderPool {
  available(): Promise<readonly AvailableSender[]>;
  /** Keeps a sender from what it cannot do for now: from everything, or from the send's country. */
  faulted(sender: AvailableSender, send: Send, fault: Fault): Promise<void>;
  /** A message was accepted: earlier faults are forgotten. */
  succeeded(sender: AvailableSender): Promise<void>;
}

export function createSenderPool(database: Database, log: Logger, metrics: WorkerMetrics): SenderPool {
  const remembered = new LRUCache<'available', AvailableSender[]>({
    max: 1,
    ttl: REMEMBERED_MS,
    fetchMethod: () => listAvailableSenders(database),
  });

  const pause = (sender: AvailableSender, fault: Fault): Promise<boolean> =>
    restSender(database, sender.id, {
      faultsBefore: sender.faults,
      seconds: pauseSeconds(sender.faults + 1),
      reason: fault.errorCode === null ? fault.reason : `${fault.reason} (${fault.errorCode})`,
    });

  return {
    available: () => remembered.forceFetch('available'),
    async faulted(sender, send, fault) {
      const blocks = fault.kind === 'config' && fault.scope === 'country' && send.country !== null;
      const begun = blocks
        ? await blockCountry(database, {
            senderId: sender.id,
            country: send.country,
            seconds: COUNTRY_BLOCK_SECONDS,
            errorCode: fault.errorCode,
          })
        : await pause(sender, fault);
      remembered.delete('available');
      // Many sends run into the same fault at once; whoever begins the pause raises the one alert.
      if (!begun) return;
      const errorCode = String(fault.errorCode ?? 'none');
      const facts = { sender_id: sender.id, error_code: fault.errorCode, reason: fault.reason };
      if (fault.kind === 'config') {
        metrics.configurationFaults.inc({ scope: fault.scope, error_code: errorCode });
        log.error({ ...facts, scope: fault.scope }, 'an operator has to act: a sender is kept back');
      } else {
        metrics.senderPauses.inc({ error_code: errorCode });
        log.warn(facts, 'a sender rests after a fault');
      }
    },
    async succeeded(sender) {
      if (sender.faults === 0) return;
      await recoverSender(database, sender.id);
      remembered.delete('available');
    },
  };
}
