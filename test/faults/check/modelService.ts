import type { Message } from '@onecode/simulator';
import type { AttemptRow, ClientEvent, Evidence, ReceiptRow, SendRow } from '../evidence.js';

/** Evidence that may still be changed. */
export interface Draft extends Evidence {
  attemptsMax: number;
  history: ClientEvent[];
  provider: { -readonly [Name in keyof Evidence['provider']]: Evidence['provider'][Name] } & {
    requests: Evidence['provider']['requests'][number][];
    messages: Message[];
  };
}

export const LIFE_MS = 600_000;
const CLOCK_START = Date.parse('2026-11-20T12:00:00.000Z');
const ATTEMPTS_MAX = 5;

/** A service that keeps every promise, in memory, and the provider that it calls. Each step happens at one moment. */
export class ModelService {
  /** The run's clock. */
  now = 1_000;
  #ids = 0;
  protected readonly codes = new Map<string, string>();
  readonly draft: Draft = {
    history: [],
    rows: { now: 0, accounts: [], sends: [], attempts: [], ledger: [], receipts: [] },
    provider: { requests: [], messages: [], webhooksUnanswered: 0 },
    attemptsMax: ATTEMPTS_MAX,
    clockStart: CLOCK_START,
    settled: true,
  };

  newId(): string {
    this.#ids += 1;
    return `00000000-0000-4000-8000-${String(this.#ids).padStart(12, '0')}`;
  }

  account(freeQuota: number, credits: number): string {
    const id = this.newId();
    this.draft.rows.accounts.push({ id, freeQuota, credits });
    for (const [bucket, units] of [
      ['free_quota', freeQuota],
      ['credit', credits],
    ] as const)
      this.draft.rows.ledger.push({ accountId: id, sendId: null, kind: 'granted', bucket, units });
    return id;
  }

  /** The code that the person gets to read. */
  code(send: SendRow): string {
    return this.codes.get(send.id) as string;
  }

  /** One call to the provider, if one is due. `unheard`: the message went, and we never learnt. */
  attempt(row: SendRow, outcome: 'accepted' | 'unheard' | 'retry' | 'sender'): void {
    const isDue = row.mode === 'live' && isUndelivered(row) && this.time() < row.expiresAt;
    if (!isDue || row.verification !== 'pending' || row.attempts >= ATTEMPTS_MAX) return;
    this.now += 1;
    const id = this.newId();
    const arrives = outcome === 'accepted' || outcome === 'unheard';
    const messageId = arrives ? `wamid-${id}` : null;
    const startedAt = this.time();
    const at = new Date(startedAt).toISOString();
    const about = { sender: '1', to: row.recipient, opaque: id };
    this.draft.provider.requests.unshift({
      ...about,
      number: this.draft.provider.requests.length + 1,
      at,
      messageId,
      outcome: arrives ? 'accepted' : 'error',
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
        language: '',
        text: '',
        code: this.code(row),
        status: 'accepted',
        dropped: false,
        acceptedAt: at,
        failureCode: null,
        sentAt: null,
        deliveredAt: null,
        readAt: null,
        failedAt: null,
      });
    this.now += 1;
    const heard = outcome === 'unheard' ? 'unknown' : outcome;
    const known = heard === 'accepted' ? messageId : null;
    const finished = { outcome: heard, messageId: known, finishedAt: this.time() };
    this.draft.rows.attempts.push({ id, sendId: row.id, senderId: '1', startedAt, ...finished });
    if (outcome !== 'sender') row.attempts += 1;
    if (outcome === 'accepted') this.#rest(row, 'sent', { sentAt: this.time() });
    else if (row.attempts === ATTEMPTS_MAX) this.#fail(row, 'attempts_exhausted');
    else
      Object.assign(row, {
        status: 'sending',
        dueAt: this.time() + 1_000,
        nextEnqueueAt: this.time() + 2_000,
      });
  }

  /** The provider reports on a message, once for each status, and we apply it. */
  report(message: Message, status: ReceiptRow['status']): void {
    const attempt = this.draft.rows.attempts.find(({ id }) => id === message.opaque)!;
    const row = this.draft.rows.sends.find(({ id }) => id === attempt.sendId)!;
    const field = `${status}At` as const;
    const isOver = message.failedAt !== null || (status === 'failed' && message.deliveredAt !== null);
    if (isOver || message[field] !== null) return;
    this.now += 1;
    message[field] = new Date(this.time()).toISOString();
    const receipt = { messageId: message.id, attemptId: attempt.id, status, result: 'applied' } as const;
    this.draft.rows.receipts.push(receipt);
    if (status === 'failed') this.#reportFailure(row, attempt);
    else this.#reportProgress(row, attempt, status);
  }

  /** Nobody is there to send it. */
  await(row: SendRow): void {
    if (row.mode === 'live' && isUndelivered(row))
      Object.assign(row, {
        awaitingSender: true,
        dueAt: row.expiresAt,
        nextEnqueueAt: row.expiresAt + 1_000,
      });
  }

  /** The end of a test send. */
  simulate(row: SendRow): void {
    const at = this.time();
    if (row.mode === 'test' && row.status === 'queued')
      this.#rest(row, 'read', { sentAt: at, deliveredAt: at, readAt: at });
  }

  /** Time passes, and what is then over its deadline, or was verified or locked, comes to its end. */
  pass(ms: number): void {
    this.now += ms;
    for (const row of this.draft.rows.sends) {
      const isOver = this.time() >= row.expiresAt || row.verification !== 'pending';
      if (row.mode === 'live' && isUndelivered(row) && isOver) this.#fail(row, 'expired_before_delivery');
    }
  }

  /** Everything comes to rest. */
  settle(): Draft {
    this.pass(1);
    for (const row of this.draft.rows.sends) {
      this.simulate(row);
      if (!row.awaitingSender) this.attempt(row, 'accepted');
    }
    this.draft.rows.now = this.time() + 1_000;
    return this.draft;
  }

  /** The database's clock, in milliseconds since 1970. */
  protected time(): number {
    return CLOCK_START + this.now;
  }

  #reportFailure(row: SendRow, attempt: AttemptRow): void {
    const { attempts } = this.draft.rows;
    if (!isUndelivered(row) && row.status !== 'sent') return;
    const other = attempts.some(
      ({ id, sendId, outcome }) => sendId === row.id && id !== attempt.id && outcome === 'accepted',
    );
    Object.assign(attempt, { outcome: 'recipient', finishedAt: this.time() });
    if (!other) this.#fail(row, 'rejected_by_provider');
  }

  #reportProgress(row: SendRow, attempt: AttemptRow, status: 'sent' | 'delivered' | 'read'): void {
    if (attempt.outcome !== 'accepted')
      Object.assign(attempt, {
        outcome: 'accepted',
        messageId: `wamid-${attempt.id}`,
        finishedAt: this.time(),
      });
    if (row.status === 'failed') return;
    const field = `${status}At` as const;
    const known: (number | null)[] = {
      sent: [row.deliveredAt, row.readAt],
      delivered: [row.readAt],
      read: [],
    }[status];
    const later = known.filter((time) => time !== null);
    const at = Math.min(this.time(), ...later);
    const order = ['queued', 'sending', 'sent', 'delivered', 'read'];
    const next = order.indexOf(status) > order.indexOf(row.status) ? status : row.status;
    this.#rest(row, next, row[field] === null ? { [field]: at } : {});
  }

  #fail(row: SendRow, reason: string): void {
    this.#rest(row, 'failed', { failedAt: this.time(), failureReason: reason });
    const account = this.draft.rows.accounts.find(({ id }) => id === row.accountId)!;
    account[row.chargedFrom === 'free_quota' ? 'freeQuota' : 'credits'] += 1;
    this.book(row, 'returned');
  }

  #rest(row: SendRow, status: string, change: Partial<SendRow>): void {
    const nothing = { hasSealedCode: false, dueAt: null, nextEnqueueAt: null, awaitingSender: false };
    Object.assign(row, nothing, { status }, change);
  }

  protected book({ accountId, id, chargedFrom }: SendRow, kind: 'reserved' | 'returned'): void {
    this.draft.rows.ledger.push({ accountId, sendId: id, kind, bucket: chargedFrom!, units: 1 });
  }
}

const isUndelivered = ({ status }: SendRow): boolean => status === 'queued' || status === 'sending';
