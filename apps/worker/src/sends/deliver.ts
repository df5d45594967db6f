import { setTimeout as wait } from 'node:timers/promises';
import {
  isSenderFailure,
  postponeOrFail,
  settle,
  simulateDelivery,
  templateLanguages,
  tryDecrypt,
  UNREADABLE_CODE,
  UNREADABLE_TOKEN,
  type Outcome,
  type Postponement,
  type Send,
  type Settlement,
} from '@onecode/domain';
import { inSpan, markFailed, recordSpan, SpanKind } from '@onecode/runtime';
import type { SenderDetails } from '@onecode/store/senders';
import { changeSend, type ClaimedSend, type TakenSend } from '@onecode/store/sends';
import type { AuthenticationMessage } from '@onecode/whatsapp';
import { waitUnlessAborted, type WorkerContext } from '../context.js';
import { recordSenderFailure, recordSenderSuccess, type SenderAttempt } from '../senders/senderFaults.js';

/** The outcome of a call that was still running when the worker stopped. The message may have been sent. */
const UNANSWERED: Outcome = {
  kind: 'unknown',
  errorCode: null,
  reason: 'the worker stopped before the response arrived',
};

/** How a delivery or a simulation ended. `gone`: the send does not exist. */
type DeliveryEnd = Postponement | 'read' | 'gone';

/** Claims and delivers a live send. @throws Error only for failures of the service itself, such as an unavailable database */
export async function deliver(context: WorkerContext, sendId: string): Promise<DeliveryEnd> {
  const startTime = performance.now();
  // crash point: worker before claim
  const taken = await context.deliveries.take(sendId);
  return deliverTaken(context, taken ?? { id: sendId }, startTime);
}

/**
 * Delivers a send that was taken: waits for the time of its permit (half a second at most), calls Meta and writes the outcome. After a
 * fault of the sender the send is due again, for another sender. A send that was not claimed is postponed or fails; a test send is
 * simulated.
 *
 * @param taken a taken send, or the id of a send that was not taken: a test send, or one that could not be taken
 * @param startTime when the take started, by `performance.now()`
 * @throws as `deliver`
 */
export async function deliverTaken(
  context: WorkerContext,
  taken: TakenSend | { id: string },
  startTime = performance.now(),
): Promise<DeliveryEnd> {
  if ('outcome' in taken && taken.outcome === 'claimed') return deliverClaimed(context, taken, startTime);
  if ('outcome' in taken && taken.outcome === 'waits') return 'no_sender';
  return endDelivery(context, taken);
}

async function deliverClaimed(
  context: WorkerContext,
  send: ClaimedSend,
  startTime: number,
): Promise<DeliveryEnd> {
  const claimedAt = performance.now();
  const { id, requestId, traceparent: parent, attemptNumber } = send;
  const attributes = {
    'onecode.send_id': id,
    'onecode.request_id': requestId,
    'onecode.attempt': attemptNumber,
  };
  return inSpan(
    'process deliver',
    { kind: SpanKind.CONSUMER, parent, startTime, attributes },
    async (span) => {
      recordSpan('claim', { startTime });
      const end = await afterClaim(context, send, claimedAt);
      span.setAttribute('onecode.end', end);
      return end;
    },
  );
}

/** Simulates a test send, and postpones or fails a live send that was not claimed. @returns the end of the delivery */
async function endDelivery(context: WorkerContext, which: TakenSend | { id: string }): Promise<DeliveryEnd> {
  const { database, policy, log } = context;
  const startTime = performance.now();
  // crash point: worker before giving up
  const ended = await changeSend(database, which, (send, now) => {
    const { result: end, ...decision } =
      send.mode === 'test' ? simulateDelivery(send, now) : postponeOrFail(send, now, policy);
    return { ...decision, result: { end, send, hasFailed: decision.change?.status === 'failed' } };
  });
  if (ended === null) return 'gone';
  const { end, send, hasFailed } = ended;
  const attributes = { 'onecode.send_id': send.id, 'onecode.end': end };
  const span = { parent: send.traceparent, startTime, attributes };
  if (end === 'read') recordSpan('process simulate', { kind: SpanKind.CONSUMER, ...span });
  if (hasFailed) {
    log.info({ send_id: send.id, request_id: send.requestId, reason: end }, 'send failed');
    recordSpan('give up', span);
  }
  return end;
}

/** @param claimedAt by `performance.now()` */
async function afterClaim(
  context: WorkerContext,
  send: ClaimedSend,
  claimedAt: number,
): Promise<DeliveryEnd> {
  const { database, policy, senders, metrics } = context;
  // Only a receipt, a guess or another worker changes a claimed send, so it is most likely still current after the call.
  const current = (): ClaimedSend => {
    const now = new Date(send.now.getTime() + performance.now() - claimedAt);
    return { ...send, now };
  };
  const number = send.attemptNumber;
  const at: SenderAttempt = {
    senderId: send.senderId as string,
    startedAt: send.claimedAt as Date,
    source: 'answer',
  };
  // crash point: worker after claim
  if (send.waitMs > 0) await wait(send.waitMs);
  const sender = await senders.open(at.senderId);
  // If this process was frozen, the lease may have ended: then another worker makes the next call.
  const { now, claimedUntil, expiresAt } = current();
  if (now >= (claimedUntil as Date) || now >= expiresAt) return 'stale';

  const endTimer = metrics.attempts.startTimer();
  const outcome = await call(context, send, sender, {
    attempt: { sendId: send.id, number },
    identityHash: send.identityHash,
  });
  // crash point: worker after call
  const seconds = endTimer({ outcome: outcome.kind });
  if (isSenderFailure(outcome)) {
    await recordSenderFailure(context, at, send, outcome);
    // crash point: worker after block
  }

  const settlement = await inSpan('settle', {}, () =>
    changeSend(database, current(), (row, now) => settle(row, now, number, outcome, policy, Math.random())),
  );
  // crash point: worker after settle
  if (settlement === null) return 'gone';
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
  log.info({ ...facts, outcome: outcome.kind, settlement, seconds }, 'attempt finished');
  if (outcome.kind === 'config' && outcome.scope === 'request') {
    metrics.configurationFaults.inc({ scope: 'request', error_code: String(outcome.errorCode ?? 'none') });
    log.error(facts, 'provider refused request');
  }
}

async function call(
  context: WorkerContext,
  send: Send,
  sender: SenderDetails,
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
  return inSpan('POST messages', { kind: SpanKind.CLIENT, attributes }, async (span) => {
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
    const outcome = (await waitUnlessAborted(answer, context.stopTimeout)) ?? UNANSWERED;
    span.setAttribute('onecode.outcome', outcome.kind);
    if (outcome.kind !== 'accepted') markFailed(span, String(outcome.errorCode ?? outcome.kind));
    return outcome;
  });
}
