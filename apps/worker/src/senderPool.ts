import { LRUCache } from 'lru-cache';
import { coolDownSeconds, unseal, type Keyring, type Outcome, type Send } from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import {
  blockCountry,
  listSenderDetails,
  recoverSender,
  coolDownSender,
  type Database,
  type SenderDetails,
  type SenderFault,
} from '@onecode/store';
import type { WorkerMetrics } from './metrics.js';

/** How long the senders' details are cached. */
const CACHED_MS = 1_000;
/** How long a sender is blocked in a country that the provider forbids it to message. */
const COUNTRY_BLOCK_SECONDS = 3_600;

/** A failure that stops a sender, or more than it. */
export type Fault = Extract<Outcome, { kind: 'sender' | 'config' }>;

/** A sender with its access token in clear. */
export interface OpenSender extends SenderDetails {
  /** Null when the sealed token cannot be opened. */
  token: string | null;
}

/** The senders, and what the provider's answers mean for them. */
export interface SenderPool {
  /** What a call needs of a sender. @throws Error when there is no such sender */
  open(senderId: string): Promise<OpenSender>;
  /** Lets a sender cool down after its fault, or blocks it in the send's country if the fault is about that. */
  recordFault(at: SenderFault, send: Send, fault: Fault): Promise<void>;
  /**
   * Forgets a sender's earlier failures: the provider accepted a message of it, or has sent one on to the recipient. What a receipt
   * stopped, only a receipt proves healthy.
   */
  recordSuccess(senderId: string, source: SenderFault['source']): Promise<void>;
}

export function createSenderPool(
  database: Database,
  secretKey: Keyring,
  log: Logger,
  metrics: WorkerMetrics,
): SenderPool {
  const cache = new LRUCache<'senders', Map<string, OpenSender>>({
    max: 1,
    ttl: CACHED_MS,
    // A fault empties the cache. Look-ups under way still get what was read for them: an abort would fail their jobs.
    ignoreFetchAbort: true,
    fetchMethod: async () =>
      new Map(
        (await listSenderDetails(database)).map((sender) => [sender.id, openSender(secretKey, sender)]),
      ),
  });
  const open = async (id: string): Promise<OpenSender> => {
    const known =
      (await cache.forceFetch('senders')).get(id) ??
      // The sender may have been added a moment ago.
      (await cache.forceFetch('senders', { forceRefresh: true })).get(id);
    if (known === undefined) throw new Error('a slot was taken from an unknown sender');
    return known;
  };

  const coolDown = async (at: SenderFault, fault: Fault): Promise<boolean> => {
    const { consecutiveFailures } = await open(at.senderId);
    return coolDownSender(database, at, {
      failuresBefore: consecutiveFailures,
      seconds: coolDownSeconds(consecutiveFailures + 1),
      reason: fault.errorCode === null ? fault.reason : `${fault.reason} (${fault.errorCode})`,
    });
  };

  return {
    open,
    async recordFault(at, send, fault) {
      const blocks = fault.kind === 'config' && fault.scope === 'country' && send.country !== null;
      const begun = blocks
        ? await blockCountry(database, {
            senderId: at.senderId,
            country: send.country,
            seconds: COUNTRY_BLOCK_SECONDS,
            errorCode: fault.errorCode,
          })
        : await coolDown(at, fault);
      cache.delete('senders');
      // Many sends meet the same fault at once; the one that begins the stop raises the alert.
      if (!begun) return;
      const errorCode = String(fault.errorCode ?? 'none');
      const facts = {
        sender_id: at.senderId,
        error_code: fault.errorCode,
        reason: fault.reason,
        source: at.source,
      };
      if (fault.kind === 'config') {
        metrics.configurationFaults.inc({ scope: fault.scope, error_code: errorCode });
        log.error({ ...facts, scope: fault.scope }, 'an operator has to act: a sender is stopped');
      } else {
        metrics.coolDowns.inc({ error_code: errorCode });
        log.warn(facts, 'a sender cools down after a fault');
      }
    },
    async recordSuccess(senderId, source) {
      const { consecutiveFailures, pauseSource } = await open(senderId);
      if (consecutiveFailures === 0 || (pauseSource === 'receipt' && source === 'answer')) return;
      await recoverSender(database, senderId);
      cache.delete('senders');
    },
  };
}

function openSender(secretKey: Keyring, sender: SenderDetails): OpenSender {
  try {
    return { ...sender, token: unseal(secretKey, sender.id, sender.sealedToken) };
  } catch {
    return { ...sender, token: null };
  }
}
