import type { Message, RequestRecord } from '@onecode/simulator';
import type { SendView } from '@onecode/testing';

/** One request as its client saw it. Times are milliseconds of the run's own clock, which no fault changes. */
interface Exchange {
  startedAt: number;
  endedAt: number;
  /** The account of the key. */
  accountId: string;
}

/** How an exchange ended for the client. */
export type Reply<Body> =
  | { kind: 'answer'; status: number; body: Body }
  | { kind: 'problem'; status: number; code: string; retryAfter: number | null }
  /** Reset, cut or timed out: the request may have been carried out. */
  | { kind: 'lost'; reason: string };

export interface Creation extends Exchange {
  kind: 'create';
  applicationId: string;
  mode: 'test' | 'live';
  /** Null without one. */
  idempotencyKey: string | null;
  /** The exact body. */
  body: string;
  recipient: string;
  reply: Reply<SendView>;
}

export interface StatusRequest extends Exchange {
  kind: 'status';
  sendId: string;
  reply: Reply<SendView>;
}

export interface Judgement {
  valid: boolean;
  verification: 'pending' | 'verified' | 'expired' | 'locked';
  attempts_left: number;
}

export interface Guess extends Exchange {
  kind: 'verify';
  sendId: string;
  code: string;
  reply: Reply<Judgement>;
}

export type ClientEvent = Creation | StatusRequest | Guess;

/** The database's rows at the end of a run. Times are milliseconds since 1970. */
export interface Rows {
  /** The database's clock when the rows were read. */
  now: number;
  accounts: { id: string; freeQuota: number; credits: number }[];
  sends: SendRow[];
  attempts: AttemptRow[];
  ledger: LedgerRow[];
  /** Reports that are stored and not applied. */
  receiptsLeft: number;
}

export interface SendRow {
  id: string;
  accountId: string;
  applicationId: string;
  mode: 'test' | 'live';
  /** Hexadecimal, of the key's bytes. */
  idempotencyKey: string | null;
  recipient: string;
  chargedFrom: 'free_quota' | 'credit' | null;
  hasEncryptedCode: boolean;
  status: string;
  phase: string;
  verification: string;
  wrongGuesses: number;
  attempts: number;
  /** How many calls were claimed. */
  attemptNumber: number;
  isClaimed: boolean;
  dueAt: number | null;
  createdAt: number;
  expiresAt: number;
  sentAt: number | null;
  deliveredAt: number | null;
  readAt: number | null;
  verifiedAt: number | null;
  lockedAt: number | null;
  failedAt: number | null;
  failureReason: string | null;
}

export interface AttemptRow {
  /** The opaque data of its message. */
  id: string;
  sendId: string;
  senderId: string | null;
  outcome: string | null;
  errorCode: number | null;
  messageId: string | null;
  startedAt: number;
  /** When its outcome was last written. */
  finishedAt: number | null;
  /** The time of a report that its message was not delivered. */
  reportedAt: number | null;
}

export interface LedgerRow {
  accountId: string;
  sendId: string | null;
  kind: 'granted' | 'reserved' | 'returned' | 'reclaimed';
  bucket: 'free_quota' | 'credit';
  units: number;
}

/** Every request to the provider and every message that it accepted. Its clock is the machine's, as is the database's. */
interface ProviderLog {
  requests: readonly RequestRecord[];
  messages: readonly Message[];
  /** The provider's webhooks that we have not answered with 200. */
  webhooksUnanswered: number;
}

/** Everything that the checker knows about a run. */
export interface Evidence {
  history: readonly ClientEvent[];
  rows: Rows;
  provider: ProviderLog;
  attemptsMax: number;
  /** The start of the run's clock by the database's clock, in milliseconds since 1970; accurate to about a second. */
  clockStart: number;
  /** Whether all work was finished after the last fault. */
  finished: boolean;
}

/** One violation of an invariant. */
export interface Violation {
  /** The invariant's name. */
  invariant: string;
  /** Ids and states only. */
  detail: string;
}
