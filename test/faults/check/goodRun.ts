import type { Message, RequestRecord } from '@onecode/simulator';
import type { SendView } from '@onecode/testing';
import type { AttemptRow, ClientEvent, Creation, Guess, LedgerRow, SendRow } from '../evidence.js';
import type { Judgement, StatusRequest } from '../evidence.js';
import { viewOf } from './views.js';

const CLOCK_START = Date.parse('2026-11-20T12:00:00.000Z');
/** The database's time, in milliseconds since 1970, at a second of the run. */
export const at = (second: number): number => CLOCK_START + second * 1000;
const iso = (second: number): string => new Date(at(second)).toISOString();

function sendRow(id: string, recipient: string, change: Partial<SendRow>): SendRow {
  return {
    id,
    recipient,
    accountId: 'account',
    applicationId: 'application',
    mode: 'live',
    chargedFrom: 'credit',
    idempotencyKey: null,
    hasEncryptedCode: false,
    dueAt: null,
    status: 'delivered',
    phase: 'done',
    verification: 'pending',
    wrongGuesses: 0,
    attempts: 1,
    attemptNumber: 1,
    isClaimed: false,
    createdAt: at(1),
    expiresAt: at(601),
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    verifiedAt: null,
    lockedAt: null,
    failedAt: null,
    failureReason: null,
    ...change,
  };
}

/** The claimed call of a send to the provider; `sender` is also the call's number. */
export const attempt = (send: SendRow, sender: string, outcome: string, second: number): AttemptRow => ({
  id: `${send.id}.${sender}`,
  sendId: send.id,
  senderId: sender,
  outcome,
  errorCode: null,
  messageId: outcome === 'accepted' ? `wamid-${send.id}.${sender}` : null,
  reportedAt: null,
  startedAt: at(second),
  finishedAt: at(second + 0.5),
});

const requestOf = (number: number, { id, startedAt }: AttemptRow, to: string): RequestRecord => ({
  number,
  to,
  at: new Date(startedAt).toISOString(),
  sender: id.slice(-1),
  opaque: id,
  language: 'en',
  outcome: 'accepted',
  http: 200,
  code: null,
  messageId: `wamid-${id}`,
  rule: null,
});

/** The message that a request made. The checker reads no field of its text. */
const messageOf = ({ at: acceptedAt, ...request }: RequestRecord, change: Partial<Message>): Message =>
  ({
    id: request.messageId,
    sender: request.sender,
    to: request.to,
    opaque: request.opaque,
    language: 'en',
    acceptedAt,
    failureCode: null,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    ...change,
  }) as Message;

const exchange = (second: number) => ({
  startedAt: second * 1000 - 1,
  endedAt: second * 1000 + 1,
  accountId: 'account',
});
const problem = (status: number, code: string) => ({
  kind: 'problem' as const,
  status,
  code,
  retryAfter: null,
});

function creation(send: SendRow, body: object, change: Partial<Creation> = {}): Creation {
  const { applicationId, mode, recipient } = send;
  const idempotencyKey = send.idempotencyKey && Buffer.from(send.idempotencyKey, 'hex').toString();
  const created = {
    ...send,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    verifiedAt: null,
    failedAt: null,
  };
  const view = viewOf({ ...created, status: 'queued', failureReason: null }, 'pending');
  return {
    ...exchange(1),
    kind: 'create',
    applicationId,
    mode,
    idempotencyKey,
    recipient,
    body: JSON.stringify(body),
    reply: { kind: 'answer', status: 202, body: view },
    ...change,
  };
}

const reading = (second: number, send: SendRow, change: Partial<SendView>): StatusRequest => ({
  ...exchange(second),
  kind: 'status',
  sendId: send.id,
  reply: { kind: 'answer', status: 200, body: { ...viewOf(send, 'pending'), verified_at: null, ...change } },
});

function guess(
  second: number,
  send: SendRow,
  code: string,
  verification: Judgement['verification'],
  left = 0,
  valid = false,
): Guess {
  const body = { valid, verification, attempts_left: left };
  return {
    ...exchange(second),
    kind: 'verify',
    sendId: send.id,
    code,
    reply: { kind: 'answer', status: 200, body },
  };
}

/**
 * Returns the evidence of a run in which every invariant holds, and its sends by their outcome. A send was verified after its second
 * message, one was locked, one failed, one waits for a sender, and one is in test mode.
 */
export function goodRun() {
  const verified = sendRow('verified', '+5511900000001', {
    idempotencyKey: Buffer.from('key-1').toString('hex'),
    attempts: 2,
    attemptNumber: 2,
    sentAt: at(3),
    deliveredAt: at(5),
    verification: 'verified',
    verifiedAt: at(7),
    wrongGuesses: 1,
  });
  const locked = sendRow('locked', '+5511900000002', {
    sentAt: at(3),
    deliveredAt: at(5),
    verification: 'locked',
    lockedAt: at(10),
    wrongGuesses: 5,
  });
  const failed = sendRow('failed', '+5511900000003', {
    status: 'failed',
    failedAt: at(4),
    failureReason: 'rejected_by_provider',
  });
  const waiting = sendRow('waiting', '+5511900000004', {
    status: 'queued',
    phase: 'waiting',
    hasEncryptedCode: true,
    dueAt: at(20),
    attempts: 0,
    attemptNumber: 0,
  });
  const test = sendRow('test', '+5511900000005', {
    mode: 'test',
    applicationId: 'test application',
    chargedFrom: null,
    status: 'read',
    readAt: at(2),
    verification: 'verified',
    verifiedAt: at(5),
    attempts: 0,
    attemptNumber: 0,
  });

  const attempts = [
    attempt(verified, '1', 'unknown', 2),
    attempt(verified, '2', 'accepted', 3),
    attempt(locked, '1', 'accepted', 3),
    { ...attempt(failed, '1', 'accepted', 3), reportedAt: at(4) },
  ];
  const requests = [verified, verified, locked, failed].map(({ recipient }, n) =>
    requestOf(n + 1, attempts[n]!, recipient),
  );
  const messages = [
    messageOf(requests[0]!, { code: '482913' }),
    messageOf(requests[1]!, { code: '482913', sentAt: iso(3), deliveredAt: iso(5) }),
    messageOf(requests[2]!, { code: '4711', sentAt: iso(3), deliveredAt: iso(5) }),
    messageOf(requests[3]!, { code: '550172', failedAt: iso(4), failureCode: 131026 }),
  ];

  const empty = { ...sendRow('', '+5511900000006', {}), accountId: 'empty account' };
  const created = creation(verified, { to: verified.recipient });
  const reused = creation(verified, { to: 'another' }, { reply: problem(409, 'idempotency_key_reused') });
  const refused = creation(
    empty,
    {},
    { accountId: 'empty account', reply: problem(402, 'insufficient_credits') },
  );
  const readings = {
    sent: reading(4, verified, { status: 'sent', delivered_at: null }),
    delivered: reading(6, verified, {}),
    failed: reading(6, failed, {}),
    waiting: reading(6, waiting, {}),
  };
  const guesses = {
    verified: [
      guess(6, verified, '0000', 'pending', 4),
      guess(7, verified, '482913', 'verified', 0, true),
      guess(8, verified, '482913', 'verified'),
    ],
    locked: [
      ...[4, 3, 2, 1].map((left) => guess(10 - left, locked, '0000', 'pending', left)),
      guess(10, locked, '0000', 'locked'),
    ],
    test: guess(5, test, '000000', 'verified', 0, true),
  };
  const history: ClientEvent[] = [
    created,
    reused,
    refused,
    ...[locked, failed, waiting, test].map((send) => creation(send, send === locked ? { code: '4711' } : {})),
    ...Object.values(readings),
    ...guesses.verified,
    ...guesses.locked,
    guesses.test,
  ];

  const entry = (send: SendRow | null, kind: LedgerRow['kind'], units = 1): LedgerRow => ({
    accountId: 'account',
    sendId: send && send.id,
    kind,
    bucket: 'credit',
    units,
  });
  const ledger = [
    entry(null, 'granted', 10),
    ...[verified, locked, failed, waiting].map((send) => entry(send, 'reserved')),
    entry(failed, 'returned'),
  ];
  const accounts = [
    { id: 'account', freeQuota: 0, credits: 7 },
    { id: 'empty account', freeQuota: 0, credits: 0 },
  ];
  const sends = [verified, locked, failed, waiting, test];
  return {
    verified,
    locked,
    failed,
    waiting,
    test,
    created,
    reused,
    refused,
    readings,
    guesses,
    history,
    rows: { now: at(20), accounts, sends, attempts, ledger, receiptsLeft: 0 },
    provider: { requests, messages, webhooksUnanswered: 0 },
    attemptsMax: 5,
    clockStart: CLOCK_START,
    finished: true,
    entry,
  };
}
