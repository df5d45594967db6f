import { DONE, UNCLAIMED, type Outcome, type RetryPolicy, type Send } from '@onecode/domain';
import type { ClaimOffer } from '@onecode/testing/claim-model';

/** When every send of these tests is created. */
export const CREATED_AT = new Date('2026-03-01T12:00:00.000Z');
export const LIFE_SECONDS = 600;
export const POLICY: RetryPolicy = { attemptsMax: 5, backoffMs: 1000 };
/** The wait for a receipt with this policy. */
export const RECEIPT_WAIT_MS = 32_000;
export const LEASE_MS = 15_000;

/** Seconds after creation. */
export const at = (seconds: number): Date => new Date(CREATED_AT.getTime() + seconds * 1000);

/** The current time in these tests, early in the life of the send. */
export const NOW = at(20);
export const ms = (time: Date, more: number): Date => new Date(time.getTime() + more);

/** A live send as `createSend` leaves it, with these fields changed. */
export function liveSend(fields: Partial<Send> = {}): Send {
  return {
    status: 'queued',
    verification: 'pending',
    channel: null,
    from: null,
    senderId: null,
    attempts: 0,
    attemptNumber: 0,
    claimedAt: null,
    claimedUntil: null,
    receiptUntil: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    verifiedAt: null,
    failedAt: null,
    failureReason: null,
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    accountId: '01890a5d-ac96-774b-bcce-b302099a8001',
    applicationId: '01890a5d-ac96-774b-bcce-b302099a8002',
    mode: 'live',
    recipient: '+5511987654321',
    country: 'BR',
    locale: 'pt-BR',
    createdAt: CREATED_AT,
    expiresAt: at(LIFE_SECONDS),
    encryptedCode: new Uint8Array(40),
    phase: 'ready',
    dueAt: CREATED_AT,
    requestId: '0199d3c8-0000-7000-8000-000000000000',
    traceparent: null,
    ...fields,
  };
}

export function testSend(fields: Partial<Send> = {}): Send {
  return liveSend({ mode: 'test', encryptedCode: null, ...fields });
}

/** A live send with its first attempt in progress and a lease from second 0; without a claim it backs off. */
export function sendingSend(fields: Partial<Send> = {}): Send {
  return liveSend({
    status: 'sending',
    phase: fields.claimedUntil === null ? 'backing_off' : 'calling',
    channel: 'whatsapp',
    from: '+15550783881',
    senderId: 'sender-1',
    attempts: 1,
    attemptNumber: 1,
    claimedAt: CREATED_AT,
    claimedUntil: new Date(CREATED_AT.getTime() + LEASE_MS),
    ...fields,
  });
}

/** A live send that the provider has accepted. It is done if its status is past `sent` or its code is erased. */
export function sentSend(fields: Partial<Send> = {}): Send {
  const isDone = (fields.status ?? 'sent') !== 'sent' || fields.encryptedCode === null;
  return sendingSend({
    status: 'sent',
    phase: 'unconfirmed',
    ...UNCLAIMED,
    dueAt: null,
    ...(isDone && DONE),
    sentAt: at(1),
    ...fields,
  });
}

export function permit(sender: { id?: string; number?: string } = {}, waitMs = 0) {
  return { sender: { id: 'sender-1', number: '+15550783881', ...sender }, waitMs };
}

export function offer(fields: Partial<ClaimOffer> = {}): ClaimOffer {
  return { leaseMs: LEASE_MS, policy: POLICY, permit: permit(), ...fields };
}

/** The change of a send that fails at `NOW`, without the reason. */
export const FAILED = {
  status: 'failed',
  phase: 'done',
  failedAt: NOW,
  encryptedCode: null,
  ...UNCLAIMED,
  dueAt: null,
};

/** Returns the send after the store has written the decision. */
export function written<S extends Send>(send: S, decision: { change?: Partial<Send> | undefined }): S {
  return { ...send, ...decision.change };
}

export const ACCEPTED: Outcome = { kind: 'accepted', messageId: 'wamid.1' };
export const UNKNOWN: Outcome = { kind: 'unknown', errorCode: null, reason: 'no answer in time' };
export const SENDER_FAULT: Outcome = { kind: 'sender', errorCode: 131042, reason: 'the sender is blocked' };
export const RECIPIENT_FAULT: Outcome = { kind: 'recipient', errorCode: 131026, reason: 'undeliverable' };
export const CONFIG_FAULT: Outcome = {
  kind: 'config',
  errorCode: 190,
  reason: 'the token was refused',
  scope: 'token',
};
export const REQUEST_FAULT: Outcome = {
  kind: 'config',
  errorCode: 100,
  reason: 'the request is invalid',
  scope: 'request',
};

export function retryable(fields: Partial<Extract<Outcome, { kind: 'retry' }>> = {}): Outcome {
  return {
    kind: 'retry',
    errorCode: 131000,
    reason: 'the provider is busy',
    throttled: 'none',
    retryAfterSeconds: null,
    ...fields,
  };
}
