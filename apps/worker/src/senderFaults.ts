import {
  coolDownSeconds,
  NO_COUNTRY,
  SHARED_COOL_DOWN_SECONDS,
  throttleWaitsMs,
  windowWaitsMs,
  type Outcome,
  type Send,
} from '@onecode/domain';
import {
  blockCountry,
  closeRecipientWindow,
  coolDownSender,
  easeThrottles,
  recordThrottle,
  recoverLanguage,
  recoverSender,
  stopLanguage,
  type SenderFault,
  type StopSource,
} from '@onecode/store';
import type { WorkerContext } from './context.js';

/** How long a sender is blocked in a country that the provider forbids it to message. */
const COUNTRY_BLOCK_SECONDS = 3_600;

type Fault = Extract<Outcome, { kind: 'sender' | 'config' }>;
type Throttle = Extract<Outcome, { kind: 'retry' }>;
type Context = Pick<WorkerContext, 'database' | 'senders' | 'metrics' | 'log'>;

/** The attempt that met a failure or succeeded, and how we know. */
export type SenderAttempt = Pick<SenderFault, 'senderId' | 'startedAt' | 'source'>;

/**
 * Stops what a failure outside of its send is about, so that the send goes out by another sender, or waits: lets the sender cool down,
 * with all of its business account if that is at fault; stops it for the send's country or language only; or throttles what has reached
 * its limit.
 */
export function recordSenderFailure(
  context: Context,
  at: SenderAttempt,
  send: Send,
  failure: Fault | Throttle,
): Promise<void> {
  return failure.kind === 'retry' ? throttle(context, at, send, failure) : stop(context, at, send, failure);
}

/**
 * Forgets a sender's earlier failures: the provider accepted a message of it, or has sent one on to the recipient. What a receipt
 * stopped, only a receipt proves healthy.
 */
export async function recordSenderSuccess(
  { database, senders }: Context,
  { senderId, startedAt, source }: SenderAttempt,
  { locale }: Pick<Send, 'locale'>,
): Promise<void> {
  const { consecutiveFailures, pauseSource, isThrottled, languageStops } = await senders.open(senderId);
  const stopped = languageStops[locale];
  const isProof = (stopSource: StopSource | null | undefined): boolean =>
    stopSource !== 'receipt' || source === 'receipt';
  const hasRecovered = consecutiveFailures > 0 && isProof(pauseSource);
  const templateHasRecovered = (stopped?.consecutiveFailures ?? 0) > 0 && isProof(stopped?.source);
  if (hasRecovered) await recoverSender(database, senderId);
  if (templateHasRecovered) await recoverLanguage(database, senderId, locale);
  if (isThrottled) await easeThrottles(database, senderId, startedAt);
  if (hasRecovered || templateHasRecovered || isThrottled) senders.forget();
}

async function stop(context: Context, at: SenderAttempt, send: Send, fault: Fault): Promise<void> {
  const { senders, metrics, log } = context;
  const begun = await stopWhatIsNamed(context, at, send, fault);
  senders.forget();
  // Many sends meet the same fault at once; the one that begins the stop raises the alert.
  if (!begun) return;
  const { errorCode, reason } = fault;
  const facts = { ...factsOf(at, send), error_code: errorCode, reason };
  if (fault.kind === 'config') {
    metrics.configurationFaults.inc({ scope: fault.scope, error_code: String(errorCode ?? 'none') });
    log.error({ ...facts, scope: fault.scope }, 'an operator has to act: a sender is stopped');
  } else {
    metrics.coolDowns.inc({ error_code: String(errorCode ?? 'none') });
    log.warn(facts, 'a sender cools down after a fault');
  }
}

/** @returns whether this call began the stop */
async function stopWhatIsNamed(
  context: Context,
  at: SenderAttempt,
  send: Send,
  fault: Fault,
): Promise<boolean> {
  const { database, senders } = context;
  const { errorCode, reason } = fault;
  const scope = fault.kind === 'config' ? fault.scope : null;
  if (scope === 'country')
    return blockCountry(database, {
      senderId: at.senderId,
      country: send.country ?? NO_COUNTRY,
      seconds: COUNTRY_BLOCK_SECONDS,
      errorCode,
    });
  const { consecutiveFailures, languageStops } = await senders.open(at.senderId);
  if (scope === 'template') {
    const failuresBefore = languageStops[send.locale]?.consecutiveFailures ?? 0;
    const seconds = coolDownSeconds(failuresBefore + 1);
    return stopLanguage(
      database,
      { ...at, locale: send.locale },
      { failuresBefore, seconds, errorCode, reason },
    );
  }
  return coolDownSender(
    database,
    { ...at, isOfBusiness: scope === 'business' },
    {
      failuresBefore: consecutiveFailures,
      seconds: coolDownSeconds(consecutiveFailures + 1),
      sharedSeconds: SHARED_COOL_DOWN_SECONDS,
      reason: errorCode === null ? reason : `${reason} (${errorCode})`,
    },
  );
}

async function throttle(
  { database, senders, metrics, log }: Context,
  at: SenderAttempt,
  send: Send,
  refusal: Throttle,
): Promise<void> {
  const { throttled: scope, errorCode, retryAfterSeconds } = refusal;
  if (scope === 'none') return;
  if (scope === 'recipient_window') {
    const waitsMs = windowWaitsMs(retryAfterSeconds, Math.random());
    await closeRecipientWindow(database, send.id, { ...at, waitsMs });
    return;
  }
  const waitsMs = throttleWaitsMs(retryAfterSeconds, Math.random());
  const isNew = await recordThrottle(database, scope, { ...at, waitsMs });
  senders.forget();
  if (!isNew) return;
  metrics.throttles.inc({ scope, error_code: String(errorCode ?? 'none') });
  log.warn({ ...factsOf(at, send), scope, error_code: errorCode }, 'a limit of the provider was reached');
}

const factsOf = ({ senderId, source }: SenderAttempt, send: Send): object => ({
  send_id: send.id,
  request_id: send.requestId,
  sender_id: senderId,
  source,
});
