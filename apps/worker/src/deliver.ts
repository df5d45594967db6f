import { setTimeout as wait } from 'node:timers/promises';
import {
  FAILURE_REASONS,
  isSenderFailure,
  postponeOrFail,
  settle,
  simulateDelivery,
  templateLanguages,
  tryDecrypt,
  UNREADABLE_CODE,
  UNREADABLE_TOKEN,
  type DeliveryEnd,
  type Outcome,
  type Send,
} from '@onecode/domain';
import { inSpan, markFailed, recordSpan, SpanKind } from '@onecode/runtime';
import { isLockTimeout } from '@onecode/store/client';
import type { SenderDetails } from '@onecode/store/senders';
import { changeSend, type ClaimedSend, type TakenSend } from '@onecode/store/sends';
import { RUN_MS_MAX, type WorkerContext } from './context.js';
import { recordSenderFailure, recordSenderSuccess, type SenderAttempt } from './senders.js';

/** Takes and delivers the send of a job. @throws Error only for failures of the service itself, such as an unavailable database */
export async function deliver(context: WorkerContext, sendId: string): Promise<DeliveryEnd> {
  const startTime = performance.now();
  // crash point: worker before claim
  const taken = await context.deliveries.take(sendId);
  return taken === undefined ? 'done' : deliverTaken(context, taken, startTime);
}

/**
 * Delivers a send that was taken. If it is claimed, waits for the time of its permit (half a second at most), calls Meta and writes the
 * outcome. After a fault of the sender, the send is due again, for another sender. A send that is not claimed is postponed or fails; a test
 * send is simulated.
 *
 * @param startTime when the take started, by `performance.now()`
 * @throws as `deliver`
 */
async function deliverTaken(
  context: WorkerContext,
  taken: TakenSend,
  startTime = performance.now(),
): Promise<DeliveryEnd> {
  const { id, mode, requestId, traceparent: parent, attemptNumber } = taken;
  const attributes = {
    'onecode.send_id': id,
    'onecode.request_id': requestId,
    'onecode.attempt': attemptNumber,
  };
  return inSpan(
    mode === 'test' ? 'process simulate' : 'process deliver',
    { kind: SpanKind.CONSUMER, parent, startTime, attributes },
    async (span) => {
      recordSpan('claim', { startTime });
      const end = await (taken.waitMs === null
        ? endUnclaimed(context, taken)
        : deliverClaimed(context, taken));
      span.setAttribute('onecode.end', end);
      return end;
    },
  );
}

/** Simulates a test send, and postpones or fails a live send that was not claimed. */
async function endUnclaimed({ database, policy, log }: WorkerContext, send: TakenSend): Promise<DeliveryEnd> {
  // crash point: worker before giving up
  const end = await changeSend(database, send, (row, now) =>
    row.mode === 'test' ? simulateDelivery(row, now) : postponeOrFail(row, now, policy),
  );
  if ((FAILURE_REASONS as readonly unknown[]).includes(end))
    log.info({ send_id: send.id, request_id: send.requestId, reason: end }, 'send failed');
  return end ?? 'done';
}

async function deliverClaimed(context: WorkerContext, send: ClaimedSend): Promise<DeliveryEnd> {
  const { cloudApi, database, policy, metrics } = context;
  const startTime = performance.now();
  const currentTime = (): Date => new Date(send.now.getTime() + performance.now() - startTime);
  const at: SenderAttempt = {
    senderId: send.senderId as string,
    startedAt: send.claimedAt as Date,
    source: 'answer',
  };
  // crash point: worker after claim
  if (send.waitMs > 0) await wait(send.waitMs);
  const sender = await context.openSender(at.senderId);
  // If this process was frozen since the claim, its call might outlast the lease, after which another worker makes the next call.
  const mayOutlastLease = performance.now() + cloudApi.timeoutMs > send.leaseEndMs;
  if (mayOutlastLease || currentTime() >= send.expiresAt) return 'stale';

  const endTimer = metrics.attempts.startTimer();
  const outcome = await call(context, send, sender);
  // crash point: worker after call
  const seconds = endTimer({ outcome: outcome.kind });
  if (isSenderFailure(outcome)) {
    await recordSenderFailure(context, at, send, outcome);
    // crash point: worker after block
  }

  // The row most likely still has this version: other changes of a claimed send are rare (a receipt, a guess, another worker, an erasure).
  const claimed = { ...send, now: currentTime() };
  const settlement = await inSpan('settle', {}, () =>
    changeSend(database, claimed, (row, now) => settle(row, now, send.attemptNumber, outcome, policy)),
  );
  // crash point: worker after settle
  if (settlement === null) return 'done';
  logAttempt(context, send, outcome, settlement, seconds);
  if (outcome.kind === 'accepted') await recordSenderSuccess(context, at, send);
  return settlement;
}

function logAttempt(
  { log, metrics }: WorkerContext,
  { id, requestId, attemptNumber, senderId }: Send,
  outcome: Outcome,
  settlement: DeliveryEnd,
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
    metrics.senderFailures.inc({ scope: 'request', error_code: String(outcome.errorCode ?? 'none') });
    log.error(facts, 'provider refused request');
  }
}

async function call(context: WorkerContext, send: ClaimedSend, sender: SenderDetails): Promise<Outcome> {
  const code = tryDecrypt(context.secretKey, send.id, send.encryptedCode as Uint8Array);
  if (code === null) return UNREADABLE_CODE;
  const { token } = sender;
  if (token === null) return UNREADABLE_TOKEN;

  const attributes = {
    'http.request.method': 'POST',
    'peer.service': 'whatsapp',
    'onecode.attempt': send.attemptNumber,
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
        attempt: { sendId: send.id, number: send.attemptNumber },
        identityHash: send.identityHash,
      },
    );
    // crash point: worker during call
    const outcome = await answer;
    span.setAttribute('onecode.outcome', outcome.kind);
    if (outcome.kind !== 'accepted') markFailed(span, String(outcome.errorCode ?? outcome.kind));
    return outcome;
  });
}

/** Deliveries without a job. */
export type DueDeliveries = ReturnType<typeof createDueDeliveries>;

/**
 * Creates the deliverer of sends without a job.
 *
 * @param concurrencyMax concurrent deliveries without a job; jobs have their own limit
 */
export function createDueDeliveries(context: WorkerContext, concurrencyMax: number) {
  const { deliveries, log } = context;
  const active = new Set<Promise<unknown>>();
  let hasMore = false;

  const start = (taken: TakenSend): void => {
    const delivery = deliverTaken(context, taken)
      .catch((error: unknown) => log.error({ err: error, send_id: taken.id }, 'delivery failed'))
      .finally(() => active.delete(delivery));
    active.add(delivery);
  };

  return {
    /**
     * Starts deliveries of due and waiting sends. While there is no room for another delivery, waits for `RUN_MS_MAX` at most.
     */
    run: async (): Promise<void> => {
      hasMore = false;
      if (active.size >= concurrencyMax)
        await Promise.race([...active, wait(RUN_MS_MAX, undefined, { ref: false })]);
      const room = concurrencyMax - active.size;
      const taken = room === 0 ? [] : await deliveries.takeDue(room);
      // crash point: worker after taking
      const claimed = taken.filter(({ waitMs }) => waitMs !== null);
      for (const one of claimed) start(one);
      // Waits until the other sends are postponed or ended. Until then, the next `takeDue` would return them again.
      const unclaimed = taken.filter(({ waitMs }) => waitMs === null);
      const ends = await Promise.allSettled(unclaimed.map((one) => deliverTaken(context, one)));
      // While the account of a refund is locked, its send stays due.
      for (const end of ends) if (end.status === 'rejected' && !isLockTimeout(end.reason)) throw end.reason;
      hasMore = room === 0 || taken.length > 0;
    },
    /** Returns whether more sends may be due after the last run. */
    hasMore: () => hasMore,
    /** Waits for the deliveries in progress. */
    ended: () => Promise.all(active),
  };
}
