import { setTimeout as wait } from 'node:timers/promises';
import {
  appliesTo,
  isSenderFailure,
  postponeOrFail,
  releaseClaim,
  settle,
  templateLanguages,
  tryDecrypt,
  UNREADABLE_CODE,
  UNREADABLE_TOKEN,
  type Outcome,
  type Postponement,
  type Send,
  type Settlement,
} from '@onecode/domain';
import { inSpan, markFailed, recordSpan, type JobOutcome } from '@onecode/runtime';
import { changeSend, type ClaimedSend, type TakenSend } from '@onecode/store/sends';
import type { AuthenticationMessage } from '@onecode/whatsapp';
import { LEASE_MARGIN_MS, waitUnlessAborted, type WorkerContext } from '../context.js';
import { recordSenderFailure, recordSenderSuccess, type SenderAttempt } from '../senders/senderFaults.js';
import type { OpenSender } from '../senders/senderPool.js';

type DeliveryEnd =
  | Exclude<Postponement | Settlement, { kind: 'reassign' }>
  /** No call was made: the worker is stopping, or the permit or the code had expired. */
  | { kind: 'released' }
  /** The send does not exist. */
  | { kind: 'gone' };

/** After this many senders the delivery ends. The send is still due, so the loop takes it soon. */
const SENDERS_TRIED_MAX = 20;
/** A call that starts this much later than the time of its permit could outlast the lease. */
const CALL_DELAY_MS_MAX = LEASE_MARGIN_MS / 2;

/** The outcome of a call that was still running when the worker stopped. The message may have been sent. */
const UNANSWERED: Outcome = {
  kind: 'unknown',
  errorCode: null,
  reason: 'the worker stopped before the answer came',
};

/** Claims and delivers a live send. @throws Error only for failures of the service itself, such as an unavailable database */
export async function deliver(context: WorkerContext, sendId: string): Promise<DeliveryEnd> {
  return deliverTaken(context, sendId, await take(context, sendId));
}

/**
 * Delivers a send that was taken: waits for the time of its permit (half a second at most), calls Meta and writes the outcome. After a
 * fault of the sender, it immediately tries another sender. A send that was not claimed is postponed or fails; a test send is simulated.
 *
 * @throws as `deliver`
 */
export async function deliverTaken(
  context: WorkerContext,
  sendId: string,
  first: Taken | undefined,
): Promise<DeliveryEnd> {
  let end = await attempt(context, sendId, first);
  for (let tried = 1; end.kind === 'reassign' && tried < SENDERS_TRIED_MAX; tried++)
    end = await attempt(context, sendId, await take(context, sendId));
  if (end.kind === 'reassign') end = { kind: 'no_sender' };
  context.metrics.deliveries.inc({ end: outcomeOf(end) });
  return end;
}

/** Returns the name of a delivery's end in metrics and job results. */
export const outcomeOf = (end: DeliveryEnd): JobOutcome => (end.kind === 'failed' ? end.reason : end.kind);

/** A send that was taken, and when the take started, by `performance.now()`. */
export interface Taken {
  taken: TakenSend;
  beganAt: number;
}

async function take({ deliveries }: WorkerContext, sendId: string): Promise<Taken | undefined> {
  const beganAt = performance.now();
  // crash point: worker before claim
  const taken = await deliveries.take(sendId);
  return taken && { taken, beganAt };
}

type AttemptEnd = DeliveryEnd | { kind: 'reassign' };

async function attempt(
  context: WorkerContext,
  sendId: string,
  found: Taken | undefined,
): Promise<AttemptEnd> {
  if (found?.taken.outcome === 'waits') return { kind: 'no_sender' };
  if (found?.taken.outcome !== 'claimed') return endDelivery(context, sendId);
  const { taken, beganAt } = found;
  const permitAt = performance.now() + taken.waitMs;
  const { id, requestId, traceparent: parent, attemptNumber } = taken.send;
  const attributes = {
    'onecode.send_id': id,
    'onecode.request_id': requestId,
    'onecode.attempt': attemptNumber,
  };
  return inSpan('process deliver', { kind: 'consumer', parent, beganAt, attributes }, async (span) => {
    recordSpan('claim', { beganAt });
    const end = await afterClaim(context, taken, permitAt);
    span.setAttribute('onecode.end', end.kind);
    return end;
  });
}

/** Applies `postponeOrFail` to a send that was not claimed, and returns the end of the delivery. */
async function endDelivery(context: WorkerContext, sendId: string): Promise<DeliveryEnd> {
  const { database, policy, log } = context;
  const beganAt = performance.now();
  // crash point: worker before giving up
  const ended = await changeSend(database, { id: sendId }, (send, now) => {
    const decision = postponeOrFail(send, now, policy);
    return { ...decision, result: { end: decision.result, send } };
  });
  if (ended === null) return { kind: 'gone' };
  const { end, send } = ended;
  const attributes = { 'onecode.send_id': sendId, 'onecode.end': outcomeOf(end) };
  const span = { parent: send.traceparent, beganAt, attributes };
  if (end.kind === 'read') recordSpan('process simulate', { kind: 'consumer', ...span });
  if (end.kind === 'failed') {
    log.info({ send_id: sendId, request_id: send.requestId, reason: end.reason }, 'send failed');
    recordSpan('give up', span);
  }
  return end;
}

async function afterClaim(context: WorkerContext, taken: ClaimedSend, permitAt: number): Promise<AttemptEnd> {
  const { database, policy, senders, metrics } = context;
  const { send } = taken;
  const number = send.attemptNumber;
  const at: SenderAttempt = {
    senderId: send.senderId as string,
    startedAt: send.claimedAt as Date,
    source: 'answer',
  };
  const expiresAt = performance.now() + send.expiresAt.getTime() - taken.now().getTime();
  // crash point: worker after claim
  const [hasPermit, identityHash] = await Promise.all([
    waitUntil(permitAt, context.releaseClaims),
    context.findExpectedIdentity(send),
  ]);
  const sender = await senders.open(at.senderId);
  const release = (): Promise<string | null> =>
    changeSend(database, taken, (current, now) => releaseClaim(current, now, number));
  // If this process was frozen, the lease or the code may have expired.
  if (!hasPermit || performance.now() >= Math.min(permitAt + CALL_DELAY_MS_MAX, expiresAt))
    return { kind: (await release()) === 'released' ? 'released' : 'stale' };
  // A response to another message, or an operator, may have blocked the sender after the claim.
  if (sender.blocks.some((block) => appliesTo(block, send) && block.since > at.startedAt)) {
    await release();
    return { kind: 'reassign' };
  }

  const endTimer = metrics.attempts.startTimer();
  const outcome = await call(context, send, sender, { attempt: { sendId: send.id, number }, identityHash });
  // crash point: worker after call
  const seconds = endTimer({ outcome: outcome.kind });
  if (isSenderFailure(outcome)) {
    await recordSenderFailure(context, at, send, outcome);
    // crash point: worker after pause
  }

  // Only a receipt, a guess or another worker changes a claimed send, so the snapshot is most likely still current.
  const settlement = await inSpan('settle', {}, () =>
    changeSend(database, taken, (current, now) =>
      settle(current, now, number, outcome, policy, Math.random()),
    ),
  );
  // crash point: worker after settle
  if (settlement === null) return { kind: 'gone' };
  logAttempt(context, send, outcome, settlement, seconds);
  if (outcome.kind === 'accepted') await recordSenderSuccess(context, at, send);
  return settlement;
}

function logAttempt(
  { log, metrics }: WorkerContext,
  { id, requestId, attemptNumber, senderId }: Send,
  outcome: Outcome,
  settlement: Settlement,
  seconds: number,
): void {
  const facts = {
    send_id: id,
    request_id: requestId,
    attempt: attemptNumber,
    sender_id: senderId,
    ...(outcome.kind === 'accepted'
      ? { message_status: outcome.messageStatus }
      : { error_code: outcome.errorCode, reason: outcome.reason }),
  };
  log.info({ ...facts, outcome: outcome.kind, settlement: settlement.kind, seconds }, 'attempt finished');
  if (outcome.kind === 'accepted' && outcome.messageStatus !== undefined)
    metrics.heldMessages.inc({ message_status: outcome.messageStatus });
  if (outcome.kind === 'config' && outcome.scope === 'request') {
    metrics.configurationFaults.inc({ scope: 'request', error_code: String(outcome.errorCode ?? 'none') });
    log.error(facts, 'provider refused request');
  }
}

async function call(
  context: WorkerContext,
  send: Send,
  sender: OpenSender,
  { attempt, identityHash }: Pick<AuthenticationMessage, 'attempt' | 'identityHash'>,
): Promise<Outcome> {
  const code = tryDecrypt(context.secretKey, send.id, send.encryptedCode as Uint8Array);
  if (code === null) return UNREADABLE_CODE;
  const { token } = sender;
  if (token === null) return UNREADABLE_TOKEN;

  const attributes = {
    'http.request.method': 'POST',
    'peer.service': 'whatsapp',
    'onecode.attempt': attempt.number,
    'onecode.sender_id': sender.id,
  };
  return inSpan('POST messages', { kind: 'client', attributes }, async (span) => {
    const answer = context.cloudApi.sendCode(
      { phoneNumberId: sender.phoneNumberId, token },
      {
        to: send.recipient,
        code,
        template: sender.template,
        language: templateLanguages(sender.englishTemplateLanguage)[send.locale],
        attempt,
        identityHash,
      },
    );
    // crash point: worker during call
    const outcome = (await waitUnlessAborted(answer, context.releaseClaims)) ?? UNANSWERED;
    span.setAttribute('onecode.outcome', outcome.kind);
    if (outcome.kind !== 'accepted') markFailed(span, String(outcome.errorCode ?? outcome.kind));
    return outcome;
  });
}

/** Waits until a time of `performance.now()`. @returns false if claims are released before that time */
async function waitUntil(at: number, releaseClaims: AbortSignal): Promise<boolean> {
  if (releaseClaims.aborted) return false;
  const ms = at - performance.now();
  if (ms <= 0) return true;
  return wait(ms, true, { signal: releaseClaims }).catch(() => false);
}
