import { setTimeout as wait } from 'node:timers/promises';
import {
  claim,
  isNotOfThisSend,
  releaseClaim,
  settle,
  unseal,
  type Claim,
  type Keyring,
  type Outcome,
  type Send,
  type SendSlot,
  type Settlement,
} from '@onecode/domain';
import { inSpan, markFailed, OWN_FAULTS, recordSpan, type OwnFault } from '@onecode/runtime';
import { changeSendSnapshot, changeRoutedSend, newId, type SendSnapshot } from '@onecode/store';
import { templateLanguage, type AuthenticationMessage } from '@onecode/whatsapp';
import { LEASE_MARGIN_MS, type WorkerContext } from './context.js';
import { recordSenderFailure, recordSenderSuccess, type SenderAttempt } from './senderFaults.js';
import type { OpenSender } from './senderPool.js';

/**
 * The end of one round of delivery. `released`: no call was made, because the worker has to stop or was frozen for too long; `gone`:
 * there is no such send.
 */
type DeliveryEnd =
  | Exclude<Claim, { kind: 'claimed' }>
  | Exclude<Settlement, { kind: 'reassign' }>
  | { kind: 'released' }
  | { kind: 'gone' };

/** A round of delivery: how it ended, and the last fault that it met. */
export interface DeliveryRound {
  end: DeliveryEnd;
  fault: Fault | null;
}

/** A call that did not succeed. `own`: it was not made, because one of our keys does not open what it needs. */
interface Fault {
  outcome: Exclude<Outcome, { kind: 'accepted' }>;
  own: OwnFault | null;
}

/** A round ends after so many senders in turn, so that a job does not go on for ever; the next round comes soon. */
const REASSIGNMENTS_MAX = 20;
const NEXT_ROUND_MS = 1_000;
/** A call that begins later than this after the time of its slot might outlast the lease. */
const CALL_DELAY_MS_MAX = LEASE_MARGIN_MS / 2;

/**
 * One round of delivery of a live send: claims it with a send slot, waits for the time of the slot (a second at most), calls the
 * provider and writes the outcome. After a fault of the sender, the send goes to another one at once.
 *
 * @throws Error only for failures of our own, such as a database that does not answer
 */
export async function deliver(context: WorkerContext, sendId: string): Promise<DeliveryRound> {
  let fault: Fault | null = null;
  for (let reassignments = 0; reassignments < REASSIGNMENTS_MAX; reassignments++) {
    const { end, fault: next } = await attempt(context, sendId);
    fault = next ?? fault;
    if (end.kind !== 'reassign') return { end, fault };
  }
  return { end: { kind: 'not_due', waitMs: NEXT_ROUND_MS }, fault };
}

interface AttemptEnd {
  end: DeliveryEnd | { kind: 'reassign' };
  fault: Fault | null;
}

const withoutCall = (end: AttemptEnd['end']): AttemptEnd => ({ end, fault: null });

async function attempt(context: WorkerContext, sendId: string): Promise<AttemptEnd> {
  const { database, policy, leaseMs } = context;
  const attemptId = newId();
  const beganAt = performance.now();
  // crash point: worker before claim
  const changed = await changeRoutedSend(database, sendId, (send, now, slot) => {
    const decision = claim(send, now, { attemptId, leaseMs, policy, slot });
    const decidedAt = performance.now();
    const slotAt = decidedAt + (slot?.waitMs ?? 0);
    const expiresAt = decidedAt + send.expiresAt.getTime() - now.getTime();
    return { ...decision, result: { claimed: decision.result, send, now, slot, slotAt, expiresAt } };
  });
  if (changed === null) return withoutCall({ kind: 'gone' });
  const { id, requestId, traceparent: parent } = changed.result.send;
  const attributes = {
    'onecode.send_id': id,
    'onecode.request_id': requestId,
    'onecode.attempt_id': attemptId,
  };
  return inSpan('process deliver', { kind: 'consumer', parent, beganAt, attributes }, async (span) => {
    recordSpan('claim', { beganAt });
    const end = await afterClaim(context, changed.snapshot, { ...changed.result, attemptId });
    span.setAttribute('onecode.end', end.end.kind);
    return end;
  });
}

/** What a claim led to; times are by `performance.now()` except `now`, the database's. */
interface ClaimEnd {
  claimed: Claim;
  attemptId: string;
  send: Send;
  now: Date;
  slot: SendSlot | null;
  slotAt: number;
  expiresAt: number;
}

async function afterClaim(
  context: WorkerContext,
  snapshot: SendSnapshot,
  { claimed, attemptId, send, now: claimedAt, slot, slotAt, expiresAt }: ClaimEnd,
): Promise<AttemptEnd> {
  const { database, policy, senders, metrics } = context;
  if (claimed.kind !== 'claimed') return withoutCall(claimed);
  if (slot === null) throw new Error('a send was claimed without a slot');
  // crash point: worker after claim
  const [hasSlot, identityHash] = await Promise.all([
    waitUntil(slotAt, context.releaseClaims),
    context.identities.of(send),
  ]);
  const sender = await senders.open(slot.sender.id);
  // The last check before the call: a process that was frozen may have lost its claim, or the code may have expired.
  if (!hasSlot || performance.now() >= Math.min(slotAt + CALL_DELAY_MS_MAX, expiresAt)) {
    const released = await changeSendSnapshot(database, snapshot, (current, now) =>
      releaseClaim(current, now, attemptId),
    );
    return withoutCall({ kind: released ?? 'gone' });
  }
  // Stopped between the claim and the call, by another message's answer or an operator.
  const stops = [sender.stoppedAt, sender.languageStops[send.locale]?.stoppedAt];
  if (stops.some((stoppedAt) => stoppedAt && stoppedAt > claimedAt)) {
    await changeSendSnapshot(database, snapshot, (current, now) => releaseClaim(current, now, attemptId));
    return withoutCall({ kind: 'reassign' });
  }

  const endTimer = metrics.attempts.startTimer();
  const { outcome, own } = await call(context, send, sender, { attemptId, identityHash });
  // crash point: worker after call
  const seconds = endTimer({ outcome: outcome.kind });
  const at: SenderAttempt = { senderId: sender.id, attemptId, source: 'answer' };
  if (isNotOfThisSend(outcome)) {
    await recordSenderFailure(context, at, send, outcome);
    // crash point: worker after pause
  }

  // Only a receipt, a guess or another worker changes a claimed send, so the snapshot is most likely still current.
  const settlement = await inSpan('settle', {}, () =>
    changeSendSnapshot(database, snapshot, (current, now) =>
      settle(current, now, attemptId, outcome, policy, Math.random()),
    ),
  );
  // crash point: worker after settle
  if (settlement === null) return withoutCall({ kind: 'gone' });
  const facts = {
    send_id: send.id,
    request_id: send.requestId,
    attempt_id: attemptId,
    attempt: claimed.attempt,
    sender_id: sender.id,
  };
  logAttempt(context, facts, outcome, settlement, seconds);
  if (outcome.kind === 'accepted') await recordSenderSuccess(context, at, send);
  return { end: settlement, fault: outcome.kind === 'accepted' ? null : { outcome, own } };
}

function logAttempt(
  { log, metrics }: WorkerContext,
  facts: object,
  outcome: Outcome,
  settlement: Settlement,
  seconds: number,
): void {
  const why = outcome.kind === 'accepted' ? {} : { error_code: outcome.errorCode, reason: outcome.reason };
  log.info({ ...facts, outcome: outcome.kind, settlement: settlement.kind, seconds, ...why }, 'attempt');
  if (outcome.kind === 'config' && outcome.scope === 'request') {
    metrics.configurationFaults.inc({ scope: 'request', error_code: String(outcome.errorCode ?? 'none') });
    log.error({ ...facts, ...why }, 'the provider refused a request of ours');
  }
}

async function call(
  context: WorkerContext,
  send: Send,
  sender: OpenSender,
  { attemptId, identityHash }: Pick<AuthenticationMessage, 'attemptId' | 'identityHash'>,
): Promise<{ outcome: Outcome; own: OwnFault | null }> {
  const code = openCode(context.secretKey, send);
  if (code === null)
    return {
      own: 'unreadable_code',
      outcome: {
        kind: 'retry',
        errorCode: null,
        reason: OWN_FAULTS.unreadable_code,
        throttled: 'none',
        retryAfterSeconds: null,
      },
    };
  const { token } = sender;
  if (token === null)
    return {
      own: 'unreadable_token',
      outcome: {
        kind: 'config',
        errorCode: null,
        reason: OWN_FAULTS.unreadable_token,
        scope: 'token',
      },
    };

  const attributes = {
    'http.request.method': 'POST',
    'peer.service': 'whatsapp',
    'onecode.attempt_id': attemptId,
    'onecode.sender_id': sender.id,
  };
  const outcome = await inSpan('POST messages', { kind: 'client', attributes }, async (span) => {
    const answer = context.cloudApi.sendCode(
      { phoneNumberId: sender.phoneNumberId, token },
      {
        to: send.recipient,
        code,
        template: sender.template,
        language: templateLanguage(send.locale, sender.englishTemplateLanguage),
        attemptId,
        identityHash,
      },
    );
    // crash point: worker during call
    const outcome = await untilReleased(answer, context.releaseClaims);
    span.setAttribute('onecode.outcome', outcome.kind);
    if (outcome.kind !== 'accepted') markFailed(span, String(outcome.errorCode ?? outcome.kind));
    return outcome;
  });
  return { own: null, outcome };
}

/** Waits until a time of `performance.now()`. @returns false when claims are released before */
async function waitUntil(at: number, releaseClaims: AbortSignal): Promise<boolean> {
  if (releaseClaims.aborted) return false;
  const ms = at - performance.now();
  if (ms <= 0) return true;
  return wait(ms, true, { signal: releaseClaims }).catch(() => false);
}

function openCode(secretKey: Keyring, send: Send): string | null {
  try {
    return unseal(secretKey, send.id, send.sealedCode as Uint8Array);
  } catch {
    return null;
  }
}

/**
 * The provider's answer, or an unknown outcome if claims are released first: the message may have gone out. (`Promise.race` with a
 * signal that lives as long as the process would keep every answer in memory.)
 */
function untilReleased(answer: Promise<Outcome>, releaseClaims: AbortSignal): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const onStop = (): void =>
      resolve({ kind: 'unknown', errorCode: null, reason: 'the worker stopped before the answer came' });
    if (releaseClaims.aborted) onStop();
    releaseClaims.addEventListener('abort', onStop);
    answer.finally(() => releaseClaims.removeEventListener('abort', onStop)).then(resolve, reject);
  });
}
