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
} from '@onecode/store';
import type { WorkerMetrics } from './metrics.js';

/** Milliseconds for which the senders' details are remembered. */
const REMEMBERED_MS = 1_000;
/** Seconds for which a sender keeps off a country that the provider forbids to it. */
const COUNTRY_BLOCK_SECONDS = 3_600;

type Fault = Extract<Outcome, { kind: 'sender' | 'config' }>;

/** A sender, and its token in clear; null when that cannot be opened. */
export interface OpenSender extends SenderDetails {
  token: string | null;
}

/** The senders, and what becomes of them by the provider's answers. */
export interface SenderPool {
  /** What a call needs of a sender. @throws when there is none with this id */
  open(senderId: string): Promise<OpenSender>;
  /** Keeps a sender from what it cannot do for now: from everything, or from the send's country. */
  faulted(sender: SenderDetails, send: Send, fault: Fault): Promise<void>;
  /** A message was accepted: earlier faults are forgotten. */
  succeeded(sender: SenderDetails): Promise<void>;
}

export function createSenderPool(
  database: Database,
  secretKey: Keyring,
  log: Logger,
  metrics: WorkerMetrics,
): SenderPool {
  const remembered = new LRUCache<'senders', Map<string, OpenSender>>({
    max: 1,
    ttl: REMEMBERED_MS,
    // Sends that ask while a fault makes us forget get what was read for them: an abort would fail their jobs.
    ignoreFetchAbort: true,
    fetchMethod: async () =>
      new Map(
        (await listSenderDetails(database)).map((sender) => [sender.id, openSender(secretKey, sender)]),
      ),
  });
  const open = async (id: string): Promise<OpenSender> => {
    const known =
      (await remembered.forceFetch('senders')).get(id) ??
      // Added a moment ago.
      (await remembered.forceFetch('senders', { forceRefresh: true })).get(id);
    if (known === undefined) throw new Error('a slot was taken of a sender that is gone');
    return known;
  };

  const pause = (sender: SenderDetails, fault: Fault): Promise<boolean> =>
    coolDownSender(database, sender.id, {
      failuresBefore: sender.consecutiveFailures,
      seconds: coolDownSeconds(sender.consecutiveFailures + 1),
      reason: fault.errorCode === null ? fault.reason : `${fault.reason} (${fault.errorCode})`,
    });

  return {
    open,
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
      remembered.delete('senders');
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
      if (sender.consecutiveFailures === 0) return;
      await recoverSender(database, sender.id);
      remembered.delete('senders');
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
