import type { Message } from '@onecode/simulator';
import type { SendView } from '@onecode/testing';
import type { ClientEvent, Evidence, Judgement, Reply, SendRow } from '../evidence.js';
import { viewOf } from './views.js';

/** Evidence that can still be changed. */
export interface Draft extends Evidence {
  attemptsMax: number;
  history: ClientEvent[];
  provider: { -readonly [Name in keyof Evidence['provider']]: Evidence['provider'][Name] } & {
    requests: Evidence['provider']['requests'][number][];
    messages: Message[];
  };
}

/** A request for a send. */
export interface CreationInput {
  accountId: string;
  mode?: 'test' | 'live';
  idempotencyKey?: string;
  ownCode?: string;
}

export const VALIDITY_MS = 600_000;
const CLOCK_START = Date.parse('2026-11-20T12:00:00.000Z');
const ATTEMPTS_MAX = 5;
const GUESSES_MAX = 5;

/**
 * A service in memory that keeps every promise, with its provider and its clients. What they leave behind is the evidence of a valid
 * run. Each step takes effect at one moment, and a request lasts from before to after it.
 */
export class ServiceModel {
  /** The run's clock. */
  now = 1_000;
  #lastId = 0;
  readonly #codes = new Map<string, string>();
  readonly draft: Draft = {
    history: [],
    rows: { now: 0, accounts: [], sends: [], attempts: [], ledger: [], receiptsLeft: 0 },
    provider: { requests: [], messages: [], webhooksUnanswered: 0 },
    attemptsMax: ATTEMPTS_MAX,
    clockStart: CLOCK_START,
    settled: true,
  };
  readonly #bodies = new Map<string, string>();

  /** Creates a send. @returns its row, or null when the account is empty */
  create(input: CreationInput, isLost = false): SendRow | null {
    const { accountId, mode = 'live', idempotencyKey = null, ownCode } = input;
    const applicationId = `${accountId.slice(0, -1)}${mode === 'live' ? 'a' : 'b'}`;
    const account = this.draft.rows.accounts.find(({ id }) => id === accountId)!;
    this.now += 1;
    const chargedFrom = mode === 'test' ? null : account.freeQuota > 0 ? 'free_quota' : 'credit';
    const recipient = `+55119${String(70_000_000 + this.draft.history.length)}`;
    const body = JSON.stringify({ to: recipient, ...(ownCode === undefined ? {} : { code: ownCode }) });
    const about = { accountId, applicationId, mode, idempotencyKey, body, recipient };
    if (chargedFrom === 'credit' && account.credits === 0) {
      this.#record({ ...about, kind: 'create' }, problem(402, 'insufficient_credits'), isLost);
      return null;
    }
    if (chargedFrom !== null) account[chargedFrom === 'free_quota' ? 'freeQuota' : 'credits'] -= 1;
    const at = this.#time();
    const row: SendRow = {
      id: this.#newId(),
      accountId,
      applicationId,
      mode,
      recipient,
      chargedFrom,
      idempotencyKey: idempotencyKey === null ? null : Buffer.from(idempotencyKey).toString('hex'),
      hasSealedCode: mode === 'live',
      status: 'queued',
      verification: 'pending',
      wrongGuesses: 0,
      attempts: 0,
      attemptNumber: 0,
      isClaimed: false,
      awaitingSender: false,
      dueAt: at,
      lostAt: null,
      createdAt: at,
      expiresAt: at + VALIDITY_MS,
      sentAt: null,
      deliveredAt: null,
      readAt: null,
      verifiedAt: null,
      lockedAt: null,
      failedAt: null,
      failureReason: null,
    };
    this.#codes.set(
      row.id,
      ownCode ?? (mode === 'test' ? '000000' : String(100_000 + this.draft.history.length)),
    );
    this.#bodies.set(row.id, body);
    this.draft.rows.sends.push(row);
    if (chargedFrom !== null) this.#book(row, 'reserved');
    this.#record({ ...about, kind: 'create' }, this.#answer(row), isLost);
    return row;
  }

  /** Repeats the request of a send. With another body it is refused. */
  repeat(row: SendRow, otherBody = false): void {
    this.now += 1;
    const { accountId, applicationId, mode, recipient } = row;
    const idempotencyKey = Buffer.from(row.idempotencyKey!, 'hex').toString();
    const body = `${this.#bodies.get(row.id)}${otherBody ? ' ' : ''}`;
    const reply = otherBody ? problem(409, 'idempotency_key_reused') : this.#answer(row);
    const about = { accountId, applicationId, mode, idempotencyKey, body, recipient };
    this.#record({ ...about, kind: 'create' }, reply);
  }

  readStatus(row: SendRow): void {
    this.now += 1;
    this.#record({ accountId: row.accountId, kind: 'status', sendId: row.id }, this.#answer(row));
  }

  guess(row: SendRow, isRight: boolean, isLost = false): void {
    this.now += 1;
    const code = isRight ? this.#codeOf(row) : 'wrong';
    const valid = this.#verification(row) === 'pending' && isRight;
    if (valid) {
      Object.assign(row, { verification: 'verified', verifiedAt: this.#time() });
      if (row.status === 'failed' && this.#mayHaveArrived(row)) this.#reclaim(row);
    }
    if (this.#verification(row) === 'pending') {
      row.wrongGuesses += 1;
      if (row.wrongGuesses === GUESSES_MAX)
        Object.assign(row, { verification: 'locked', lockedAt: this.#time() });
    }
    if (row.status === 'sent' && row.verification !== 'pending') row.hasSealedCode = false;
    const verification = this.#verification(row);
    const body = {
      valid,
      verification,
      attempts_left: verification === 'pending' ? GUESSES_MAX - row.wrongGuesses : 0,
    };
    const about = { accountId: row.accountId, kind: 'verify', sendId: row.id, code } as const;
    this.#record(about, { kind: 'answer', status: 200, body }, isLost);
  }

  #verification(row: SendRow): Judgement['verification'] {
    if (row.verification === 'pending' && this.#time() >= row.expiresAt) return 'expired';
    return row.verification as Judgement['verification'];
  }

  #answer(row: SendRow): Reply<SendView> {
    const body = viewOf(row, this.#verification(row));
    return { kind: 'answer', status: 202, body };
  }

  #record(about: object, reply: Reply<SendView | Judgement>, isLost = false): void {
    const isStatus = 'kind' in about && about.kind === 'status' && reply.kind === 'answer';
    this.draft.history.push({
      startedAt: this.now - 0.5,
      endedAt: this.now + 0.4,
      ...about,
      reply: isLost ? { kind: 'lost', reason: 'reset' } : isStatus ? { ...reply, status: 200 } : reply,
    } as ClientEvent);
  }

  #newId(): string {
    this.#lastId += 1;
    return `00000000-0000-4000-8000-${String(this.#lastId).padStart(12, '0')}`;
  }

  addAccount(freeQuota: number, credits: number): string {
    const id = this.#newId();
    this.draft.rows.accounts.push({ id, freeQuota, credits });
    for (const [bucket, units] of [
      ['free_quota', freeQuota],
      ['credit', credits],
    ] as const)
      this.draft.rows.ledger.push({ accountId: id, sendId: null, kind: 'granted', bucket, units });
    return id;
  }

  #codeOf(send: SendRow): string {
    return this.#codes.get(send.id) as string;
  }

  /** One call to the provider, if one is due. `answer_lost`: the provider accepted the message and the service got no answer. */
  attempt(row: SendRow, outcome: 'accepted' | 'answer_lost' | 'retry' | 'sender'): void {
    if (row.mode !== 'live' || !isUndelivered(row)) return;
    this.now += 1;
    const id = this.#newId();
    const isAccepted = outcome === 'accepted' || outcome === 'answer_lost';
    const messageId = isAccepted ? `wamid-${id}` : null;
    const startedAt = this.#time();
    const at = new Date(startedAt).toISOString();
    const about = { sender: '1', to: row.recipient, opaque: id, language: 'en' };
    this.draft.provider.requests.unshift({
      ...about,
      number: this.draft.provider.requests.length + 1,
      at,
      messageId,
      outcome: isAccepted ? 'accepted' : 'error',
      http: 200,
      code: null,
      rule: null,
    });
    if (messageId !== null)
      this.draft.provider.messages.unshift({
        ...about,
        id: messageId,
        waId: '',
        template: '',
        text: '',
        footer: null,
        code: this.#codeOf(row),
        status: 'accepted',
        dropped: false,
        acceptedAt: at,
        failureCode: null,
        reportedAt: null,
        category: 'authentication',
        sentAt: null,
        deliveredAt: null,
        readAt: null,
        failedAt: null,
      });
    this.now += 1;
    const known = outcome === 'answer_lost' ? 'unknown' : outcome;
    const knownMessageId = known === 'accepted' ? messageId : null;
    const errorCode = outcome === 'retry' ? 131000 : null;
    const finished = { outcome: known, errorCode, messageId: knownMessageId, finishedAt: this.#time() };
    this.draft.rows.attempts.push({
      id,
      sendId: row.id,
      senderId: '1',
      startedAt,
      reportedAt: null,
      ...finished,
    });
    row.attemptNumber += 1;
    if (outcome !== 'sender') row.attempts += 1;
    if (outcome === 'accepted') this.#finish(row, 'sent', { sentAt: this.#time() });
    else
      Object.assign(row, {
        status: 'sending',
        dueAt: this.#time() + 1_000,
      });
  }

  /** The provider reports a status of a message, once, and the service applies it. */
  report(message: Message, status: 'sent' | 'delivered' | 'read' | 'failed'): void {
    const attempt = this.draft.rows.attempts.find(({ id }) => id === message.opaque)!;
    const row = this.draft.rows.sends.find(({ id }) => id === attempt.sendId)!;
    const field = `${status}At` as const;
    this.now += 1;
    message[field] = new Date(this.#time()).toISOString();
    if (status === 'failed') {
      Object.assign(attempt, { outcome: 'recipient', finishedAt: this.#time(), reportedAt: this.#time() });
      this.#fail(row, 'rejected_by_provider');
      return;
    }
    if (attempt.outcome !== 'accepted')
      Object.assign(attempt, {
        outcome: 'accepted',
        messageId: `wamid-${attempt.id}`,
        finishedAt: this.#time(),
      });
    this.#finish(row, status, row[field] === null ? { [field]: this.#time() } : {});
  }

  /** No sender is available. */
  awaitSender(row: SendRow): void {
    Object.assign(row, {
      awaitingSender: true,
      dueAt: row.expiresAt,
    });
  }

  /** Completes a test send. */
  simulate(row: SendRow): void {
    const at = this.#time();
    if (row.mode === 'test' && row.status === 'queued')
      this.#finish(row, 'read', { sentAt: at, deliveredAt: at, readAt: at });
  }

  /** Time passes. Undelivered sends that are expired, verified or locked fail. */
  passTime(ms: number): void {
    this.now += ms;
    for (const row of this.draft.rows.sends) {
      const isOver = this.#time() >= row.expiresAt || row.verification !== 'pending';
      if (row.mode === 'live' && isUndelivered(row) && isOver) this.#fail(row, 'expired_before_delivery');
    }
  }

  /** Finishes all work. */
  settle(): Draft {
    this.passTime(1);
    for (const row of this.draft.rows.sends) {
      this.simulate(row);
      if (!row.awaitingSender) this.attempt(row, 'accepted');
    }
    this.draft.rows.now = this.#time() + 1_000;
    return this.draft;
  }

  /** The database's clock, in milliseconds since 1970. */
  #time(): number {
    return CLOCK_START + this.now;
  }

  #fail(row: SendRow, reason: string): void {
    this.#finish(row, 'failed', { failedAt: this.#time(), failureReason: reason });
    if (row.verification === 'verified' && this.#mayHaveArrived(row)) return;
    this.#accountOf(row)[row.chargedFrom === 'free_quota' ? 'freeQuota' : 'credits'] += 1;
    this.#book(row, 'returned');
  }

  #mayHaveArrived({ id }: SendRow): boolean {
    return this.draft.rows.attempts.some(
      ({ sendId, messageId, outcome }) =>
        sendId === id && (messageId !== null || outcome === 'accepted' || outcome === 'unknown'),
    );
  }

  /** Charges the returned unit of a failed send again. The model's accounts never run out of credits. */
  #reclaim(row: SendRow): void {
    this.#accountOf(row)[row.chargedFrom === 'free_quota' ? 'freeQuota' : 'credits'] -= 1;
    this.#book(row, 'reclaimed');
  }

  #accountOf({ accountId }: SendRow) {
    return this.draft.rows.accounts.find(({ id }) => id === accountId)!;
  }

  #finish(row: SendRow, status: string, change: Partial<SendRow>): void {
    const hasSealedCode = row.hasSealedCode && status === 'sent' && row.verification === 'pending';
    const nothingDue = { hasSealedCode, dueAt: null, awaitingSender: false };
    Object.assign(row, nothingDue, { status }, change);
  }

  #book({ accountId, id, chargedFrom }: SendRow, kind: 'reserved' | 'returned' | 'reclaimed'): void {
    this.draft.rows.ledger.push({ accountId, sendId: id, kind, bucket: chargedFrom!, units: 1 });
  }
}

const problem = (status: number, code: string): Reply<never> => ({
  kind: 'problem',
  status,
  code,
  retryAfter: status === 429 ? 1 : null,
});

const isUndelivered = ({ status }: SendRow): boolean => status === 'queued' || status === 'sending';
