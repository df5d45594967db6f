import { LRUCache } from 'lru-cache';
import {
  coolDownSeconds,
  SHARED_COOL_DOWN_SECONDS,
  throttleWaitsMs,
  unseal,
  windowWaitsMs,
  type Keyring,
  type Outcome,
  type Send,
} from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import {
  blockCountry,
  closeRecipientWindow,
  easeThrottles,
  listSenderDetails,
  recordThrottle,
  recoverLanguage,
  recoverSender,
  coolDownSender,
  stopLanguage,
  type Database,
  type SenderDetails,
  type SenderFault,
  type StopSource,
} from '@onecode/store';
import type { WorkerMetrics } from './metrics.js';

/** How long the senders' details are cached. */
const CACHED_MS = 1_000;
/** How long a sender is blocked in a country that the provider forbids it to message. */
const COUNTRY_BLOCK_SECONDS = 3_600;

/** A call that failed for a reason outside of its send. */
type SenderFailure = Extract<Outcome, { kind: 'sender' | 'config' | 'retry' }>;
type Fault = Extract<Outcome, { kind: 'sender' | 'config' }>;
type Throttle = Extract<Outcome, { kind: 'retry' }>;

/** The attempt that met a failure, and how we know. */
export type FailedAttempt = Pick<SenderFault, 'senderId' | 'attemptId' | 'source'>;

/** A sender with its access token in clear. */
export interface OpenSender extends SenderDetails {
  /** Null when the sealed token cannot be opened. */
  token: string | null;
}

/** The senders, and what the provider's answers mean for them. */
export interface SenderPool {
  /** What a call needs of a sender. @throws Error when there is no such sender */
  open(senderId: string): Promise<OpenSender>;
  /**
   * Stops what a failure is about, so that the send goes out by another sender, or waits: lets the sender cool down, with all of its
   * business account if that is at fault; stops it for the send's country or language only; or throttles what has reached its limit.
   */
  recordFailure(at: FailedAttempt, send: Send, failure: SenderFailure): Promise<void>;
  /**
   * Forgets a sender's earlier failures: the provider accepted a message of it, or has sent one on to the recipient. What a receipt
   * stopped, only a receipt proves healthy.
   */
  recordSuccess(at: FailedAttempt, send: Send): Promise<void>;
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

  const coolDown = async (at: FailedAttempt, fault: Fault): Promise<boolean> => {
    const { consecutiveFailures } = await open(at.senderId);
    const isOfBusiness = fault.kind === 'config' && fault.scope === 'business';
    return coolDownSender(
      database,
      { ...at, isOfBusiness },
      {
        failuresBefore: consecutiveFailures,
        seconds: coolDownSeconds(consecutiveFailures + 1),
        sharedSeconds: SHARED_COOL_DOWN_SECONDS,
        reason: fault.errorCode === null ? fault.reason : `${fault.reason} (${fault.errorCode})`,
      },
    );
  };

  const stopTemplate = async (at: FailedAttempt, { locale }: Send, fault: Fault): Promise<boolean> => {
    const failuresBefore = (await open(at.senderId)).languageStops[locale]?.consecutiveFailures ?? 0;
    return stopLanguage(
      database,
      { ...at, locale },
      {
        failuresBefore,
        seconds: coolDownSeconds(failuresBefore + 1),
        errorCode: fault.errorCode,
        reason: fault.reason,
      },
    );
  };

  /** @returns whether this call began the stop */
  const stopWhatIsNamed = (at: FailedAttempt, send: Send, fault: Fault): Promise<boolean> => {
    const scope = fault.kind === 'config' ? fault.scope : null;
    if (scope === 'country' && send.country !== null)
      return blockCountry(database, {
        senderId: at.senderId,
        country: send.country,
        seconds: COUNTRY_BLOCK_SECONDS,
        errorCode: fault.errorCode,
      });
    return scope === 'template' ? stopTemplate(at, send, fault) : coolDown(at, fault);
  };

  const stop = async (at: FailedAttempt, send: Send, fault: Fault): Promise<void> => {
    const begun = await stopWhatIsNamed(at, send, fault);
    cache.delete('senders');
    // Many sends meet the same fault at once; the one that begins the stop raises the alert.
    if (!begun) return;
    const errorCode = String(fault.errorCode ?? 'none');
    const facts = {
      send_id: send.id,
      request_id: send.requestId,
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
  };

  const throttle = async (at: FailedAttempt, send: Send, refusal: Throttle): Promise<void> => {
    const { throttled: scope, errorCode, retryAfterSeconds } = refusal;
    if (scope === 'none') return;
    if (scope === 'recipient_window') {
      const waitsMs = windowWaitsMs(retryAfterSeconds, Math.random());
      await closeRecipientWindow(database, send.id, { ...at, waitsMs });
      return;
    }
    const waitsMs = throttleWaitsMs(retryAfterSeconds, Math.random());
    const isNew = await recordThrottle(database, scope, { ...at, waitsMs });
    cache.delete('senders');
    if (!isNew) return;
    metrics.throttles.inc({ scope, error_code: String(errorCode ?? 'none') });
    log.warn(
      {
        send_id: send.id,
        request_id: send.requestId,
        sender_id: at.senderId,
        scope,
        error_code: errorCode,
        source: at.source,
      },
      'a limit of the provider was reached',
    );
  };

  return {
    open,
    recordFailure: async (at, send, failure) =>
      failure.kind === 'retry' ? throttle(at, send, failure) : stop(at, send, failure),
    async recordSuccess({ senderId, attemptId, source }, { locale }) {
      const { consecutiveFailures, pauseSource, isThrottled, languageStops } = await open(senderId);
      const stopped = languageStops[locale];
      const isProof = (stopSource: StopSource | null | undefined): boolean =>
        stopSource !== 'receipt' || source === 'receipt';
      const hasRecovered = consecutiveFailures > 0 && isProof(pauseSource);
      const templateHasRecovered = (stopped?.consecutiveFailures ?? 0) > 0 && isProof(stopped?.source);
      if (hasRecovered) await recoverSender(database, senderId);
      if (templateHasRecovered) await recoverLanguage(database, senderId, locale);
      if (isThrottled) await easeThrottles(database, senderId, attemptId);
      if (hasRecovered || templateHasRecovered || isThrottled) cache.delete('senders');
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
