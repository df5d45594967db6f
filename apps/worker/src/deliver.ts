import { setTimeout as wait } from 'node:timers/promises';
import {
  afterSameRefusals,
  isAbout,
  isNotOfThisSend,
  postponeOrFail,
  releaseClaim,
  settle,
  tryUnseal,
  type Outcome,
  type Postponement,
  type Send,
  type Settlement,
} from '@onecode/domain';
import { inSpan, markFailed, OWN_FAULTS, recordSpan, type OwnFault } from '@onecode/runtime';
import {
  changeSend,
  changeSendSnapshot,
  countAttemptsWith,
  findSendDetails,
  type ClaimedSend,
  type TakenSend,
} from '@onecode/store';
import { templateLanguage, type AuthenticationMessage } from '@onecode/whatsapp';
import { LEASE_MARGIN_MS, type WorkerContext } from './context.js';
import { untilStopped } from './readings.js';
import { recordSenderFailure, recordSenderSuccess, type SenderAttempt } from './senderFaults.js';
import type { OpenSender } from './senderPool.js';

/** The end of a round. `released`: no call was made, as the worker stops or was frozen; `gone`: there is no such send. */
type DeliveryEnd =
  Postponement | Exclude<Settlement, { kind: 'reassign' }> | { kind: 'released' } | { kind: 'gone' };

/** A round of delivery: how it ended, and the last fault that it met. */
export interface DeliveryRound {
  end: DeliveryEnd;
  fault: Fault | null;
}

/** What kept a message from being accepted. `own`: the call was not made, because one of our keys does not open what it needs. */
interface Fault {
  outcome: Pick<Exclude<Outcome, { kind: 'accepted' }>, 'kind' | 'errorCode'>;
  own: OwnFault | null;
}

/** A round ends after so many senders in turn, so that it does not go on for ever; the next round comes soon. */
const REASSIGNMENTS_MAX = 20;
/** A call that begins later than this after the time of its slot might outlast the lease. */
const CALL_DELAY_MS_MAX = LEASE_MARGIN_MS / 2;

/** Of a call that the worker could wait for no longer: the message may have gone out. */
const UNANSWERED: Outcome = {
  kind: 'unknown',
  errorCode: null,
  reason: 'the worker stopped before the answer came',
};

/** One round of delivery of the send that a job names. @throws Error only for failures of our own, such as a database that does not answer */
export async function deliver(context: WorkerContext, sendId: string): Promise<DeliveryRound> {
  return deliverTaken(context, sendId, await take(context, sendId));
}

/**
 * One round of delivery of a live send that was taken: waits for the time of its slot (half a second at most), calls the provider and
 * writes the outcome. After a fault of the sender, the send goes to another one at once. A send that may not go out comes to its end, if
 * its time has come.
 *
 * @throws as `deliver`
 */
export async function deliverTaken(
  context: WorkerContext,
  sendId: string,
  first: Taken | undefined,
): Promise<DeliveryRound> {
  let fault: Fault | null = null;
  let taken = first;
  for (let reassignments = 0; reassignments < REASSIGNMENTS_MAX; reassignments++) {
    const { end, fault: next } = await attempt(context, sendId, taken);
    fault = next ?? fault;
    if (end.kind !== 'reassign') return { end, fault };
    taken = await take(context, sendId);
  }
  return { end: { kind: 'not_due' }, fault };
}

/** A send that was taken, and when that began, by `performance.now()`. */
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

interface AttemptEnd {
  end: DeliveryEnd | { kind: 'reassign' };
  fault: Fault | null;
}

const withoutCall = (end: AttemptEnd['end']): AttemptEnd => ({ end, fault: null });

async function attempt(
  context: WorkerContext,
  sendId: string,
  found: Taken | undefined,
): Promise<AttemptEnd> {
  if (found === undefined) return endDelivery(context, sendId);
  const { taken, beganAt } = found;
  if (taken.outcome === 'waits') return withoutCall({ kind: 'no_sender' });
  if (taken.outcome !== 'claimed') return endDelivery(context, sendId);
  const slotAt = performance.now() + taken.waitMs;
  const { id, requestId, traceparent: parent, attemptNumber } = taken.send;
  const attributes = {
    'onecode.send_id': id,
    'onecode.request_id': requestId,
    'onecode.attempt': attemptNumber,
  };
  return inSpan('process deliver', { kind: 'consumer', parent, beganAt, attributes }, async (span) => {
    recordSpan('claim', { beganAt });
    const end = await afterClaim(context, taken, slotAt);
    span.setAttribute('onecode.end', end.end.kind);
    return end;
  });
}

/** Fails a send whose deadline has come or whose code is settled. Of one that failed before, it says why, for its job. */
async function endDelivery(context: WorkerContext, sendId: string): Promise<AttemptEnd> {
  const { database, policy, log } = context;
  const beganAt = performance.now();
  // crash point: worker before giving up
  const ended = await changeSend(database, { id: sendId }, (send, now) => {
    const decision = postponeOrFail(send, now, policy);
    return { ...decision, result: { end: decision.result, send } };
  });
  if (ended === null) return withoutCall({ kind: 'gone' });
  const { end, send } = ended;
  if (end.kind === 'settled' && send.status === 'failed' && send.failureReason !== null)
    return { end: { kind: 'failed', reason: send.failureReason }, fault: await lastFault(context, send) };
  if (end.kind === 'failed') {
    const attributes = { 'onecode.send_id': sendId, 'onecode.end': end.reason };
    log.info({ send_id: sendId, request_id: send.requestId, reason: end.reason }, 'a send failed');
    recordSpan('give up', { parent: send.traceparent, beganAt, attributes });
  }
  return withoutCall(end);
}

async function lastFault({ database }: WorkerContext, { accountId, id }: Send): Promise<Fault | null> {
  const last = (await findSendDetails(database, accountId, id))?.attempts.at(-1);
  if (!last?.outcome || last.outcome === 'accepted') return null;
  return { outcome: { kind: last.outcome, errorCode: last.errorCode }, own: null };
}

async function afterClaim(context: WorkerContext, taken: ClaimedSend, slotAt: number): Promise<AttemptEnd> {
  const { database, policy, senders, metrics } = context;
  const { send } = taken;
  const { attemptNumber: number, senderId, claimedAt } = send;
  if (senderId === null || claimedAt === null) throw new Error('a send was taken without a claim');
  const expiresAt = performance.now() + send.expiresAt.getTime() - taken.now().getTime();
  // crash point: worker after claim
  const [hasSlot, identityHash] = await Promise.all([
    waitUntil(slotAt, context.releaseClaims),
    context.identities.of(send),
  ]);
  const sender = await senders.open(senderId);
  const release = (): Promise<string | null> =>
    changeSendSnapshot(database, taken, (current, now) => releaseClaim(current, now, number));
  // The last check before the call: a process that was frozen may have lost its claim, or the code may have expired.
  if (!hasSlot || performance.now() >= Math.min(slotAt + CALL_DELAY_MS_MAX, expiresAt))
    return withoutCall({ kind: (await release()) === 'released' ? 'released' : 'stale' });
  // Stopped between the claim and the call, by another message's answer or an operator.
  if (sender.stops.some((stop) => isAbout(stop, send) && stop.since > claimedAt)) {
    await release();
    return withoutCall({ kind: 'reassign' });
  }

  const endTimer = metrics.attempts.startTimer();
  const { outcome: answer, own } = await call(context, send, sender, {
    attempt: { sendId: send.id, number },
    identityHash,
  });
  // crash point: worker after call
  const isRefusal = answer.kind === 'retry' && answer.isRefusal === true;
  const before = isRefusal ? await countAttemptsWith(database, send.id, answer.errorCode) : 0;
  const outcome = afterSameRefusals(answer, before);
  const seconds = endTimer({ outcome: outcome.kind });
  const at: SenderAttempt = { senderId, startedAt: claimedAt, source: 'answer' };
  if (isNotOfThisSend(outcome)) {
    await recordSenderFailure(context, at, send, outcome);
    // crash point: worker after pause
  }

  // Only a receipt, a guess or another worker changes a claimed send, so the snapshot is most likely still current.
  const settlement = await inSpan('settle', {}, () =>
    changeSendSnapshot(database, taken, (current, now) =>
      settle(current, now, number, outcome, policy, Math.random()),
    ),
  );
  // crash point: worker after settle
  if (settlement === null) return withoutCall({ kind: 'gone' });
  const facts = {
    send_id: send.id,
    request_id: send.requestId,
    attempt: number,
    sender_id: senderId,
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
  { attempt, identityHash }: Pick<AuthenticationMessage, 'attempt' | 'identityHash'>,
): Promise<{ outcome: Outcome; own: OwnFault | null }> {
  const code = tryUnseal(context.secretKey, send.id, send.sealedCode as Uint8Array);
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
    'onecode.attempt': attempt.number,
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
        attempt,
        identityHash,
      },
    );
    // crash point: worker during call
    const outcome = (await untilStopped(answer, context.releaseClaims)) ?? UNANSWERED;
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
