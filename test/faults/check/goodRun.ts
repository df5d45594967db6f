import type { Message } from '@onecode/simulator';
import type { AttemptRow, ClientEvent, Evidence, Judgement, Reply, SendRow } from '../evidence.js';
import { viewOf } from './views.js';

/** Evidence that can still be changed. */
interface Draft extends Evidence {
  history: ClientEvent[];
  provider: Evidence['provider'] & {
    requests: Evidence['provider']['requests'][number][];
    messages: Message[];
  };
}

interface SendInput {
  mode?: 'test' | 'live';
  idempotencyKey?: string;
  status: 'queued' | 'delivered' | 'read' | 'failed';
  verification?: 'pending' | 'verified' | 'locked';
  /** The judgements of guesses in their order: those that are valid were made with the right code. */
  guesses?: Judgement[];
  /** When it was created, by the run's clock. */
  at?: number;
}

export const VALIDITY_MS = 600_000;
const CLOCK_START = Date.parse('2026-11-20T12:00:00.000Z');
const GRANTED = 20;
const ACCOUNT = 'account';

export const judgement = (
  verification: Judgement['verification'],
  attempts_left = 0,
  valid = false,
): Judgement => ({ valid, verification, attempts_left });

const problem = (status: number, code: string): Reply<never> => ({
  kind: 'problem',
  status,
  code,
  retryAfter: null,
});

/** What a run leaves that keeps every promise: a send for each way that one goes, its requests, attempts, messages and units. */
export class GoodRun {
  readonly draft: Draft = {
    history: [],
    rows: {
      now: CLOCK_START + VALIDITY_MS + 200_000,
      accounts: [{ id: ACCOUNT, freeQuota: 0, credits: GRANTED }],
      sends: [],
      attempts: [],
      ledger: [{ accountId: ACCOUNT, sendId: null, kind: 'granted', bucket: 'credit', units: GRANTED }],
      receiptsLeft: 0,
    },
    provider: { requests: [], messages: [], webhooksUnanswered: 0 },
    attemptsMax: 5,
    clockStart: CLOCK_START,
    settled: true,
  };
  readonly account = this.draft.rows.accounts[0]!;
  readonly expired = this.#addSend({ status: 'delivered', at: 1_000, guesses: [judgement('expired')] });
  readonly verified = this.#addSend({
    idempotencyKey: 'key-1',
    status: 'delivered',
    verification: 'verified',
    guesses: [judgement('pending', 4), judgement('verified', 0, true), judgement('verified')],
  });
  readonly delivered = this.#addSend({ idempotencyKey: 'key-2', status: 'delivered' });
  readonly locked = this.#addSend({
    status: 'delivered',
    verification: 'locked',
    guesses: [...[4, 3, 2, 1].map((left) => judgement('pending', left)), judgement('locked')],
  });
  readonly failed = this.#addSend({ status: 'failed' });
  /** Waits for a sender. */
  readonly waiting = this.#addSend({ status: 'queued' });
  readonly test = this.#addSend({
    mode: 'test',
    status: 'read',
    verification: 'verified',
    guesses: [judgement('verified', 0, true)],
  });
  /** A creation with the key of `verified` and another body. */
  readonly conflict = this.#refuse(this.verified, problem(409, 'idempotency_key_reused'));
  /** A creation by an account that was given nothing. */
  readonly unpaid = this.#refuse(
    { ...this.waiting, accountId: 'empty' },
    problem(402, 'insufficient_credits'),
  );

  #addSend({ mode = 'live', idempotencyKey, status, verification = 'pending', ...more }: SendInput): SendRow {
    const { rows } = this.draft;
    const n = rows.sends.length + 1;
    const { at = VALIDITY_MS + 100_000 + n * 1_000, guesses = [] } = more;
    const createdAt = CLOCK_START + at;
    const isCalled = mode === 'live' && status !== 'queued';
    const arrivedAt = status === 'delivered' || status === 'read' ? createdAt + 200 : null;
    const row: SendRow = {
      id: `send-${n}`,
      accountId: ACCOUNT,
      applicationId: `application-${mode}`,
      mode,
      recipient: `+551190000000${n}`,
      idempotencyKey: idempotencyKey === undefined ? null : Buffer.from(idempotencyKey).toString('hex'),
      chargedFrom: mode === 'live' ? 'credit' : null,
      hasSealedCode: mode === 'live' && status === 'queued',
      status,
      verification,
      wrongGuesses: guesses.filter((one) => !one.valid && /pending|locked/.test(one.verification)).length,
      attempts: isCalled ? 1 : 0,
      attemptNumber: isCalled ? 1 : 0,
      isClaimed: false,
      awaitingSender: status === 'queued',
      dueAt: status === 'queued' ? createdAt + VALIDITY_MS : null,
      lostAt: null,
      createdAt,
      expiresAt: createdAt + VALIDITY_MS,
      sentAt: arrivedAt === null ? null : createdAt + 150,
      deliveredAt: arrivedAt,
      readAt: status === 'read' ? arrivedAt : null,
      verifiedAt: verification === 'verified' ? createdAt + 500 : null,
      lockedAt: verification === 'locked' ? createdAt + 500 : null,
      failedAt: status === 'failed' ? createdAt + 200 : null,
      failureReason: status === 'failed' ? 'rejected_by_provider' : null,
    };
    rows.sends.push(row);
    const code = mode === 'test' ? '000000' : String(100_000 + n);
    if (mode === 'live') this.#book(row);
    if (isCalled) this.#call(row, code);
    this.#recordRequests(row, idempotencyKey ?? null, code, guesses);
    return row;
  }

  #book({ accountId, id: sendId, status }: SendRow): void {
    const entry = { accountId, sendId, bucket: 'credit', units: 1 } as const;
    this.draft.rows.ledger.push({ ...entry, kind: 'reserved' });
    if (status === 'failed') this.draft.rows.ledger.push({ ...entry, kind: 'returned' });
    else this.account.credits -= 1;
  }

  /** One call to the provider, which accepts the message and reports on it. */
  #call(row: SendRow, code: string): void {
    const { rows, provider } = this.draft;
    const attempt: AttemptRow = {
      id: `${row.id}.1`,
      sendId: row.id,
      senderId: '1',
      outcome: row.status === 'failed' ? 'recipient' : 'accepted',
      errorCode: null,
      messageId: `wamid-${row.id}`,
      startedAt: row.createdAt + 100,
      finishedAt: row.createdAt + 150,
      reportedAt: row.failedAt,
    };
    rows.attempts.push(attempt);
    const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
    const about = { sender: '1', to: row.recipient, opaque: attempt.id, language: 'en' };
    const number = provider.requests.length + 1;
    const answer = { outcome: 'accepted', http: 200, code: null, rule: null } as const;
    const at = iso(attempt.startedAt)!;
    provider.requests.push({ ...about, ...answer, number, at, messageId: attempt.messageId });
    provider.messages.push({
      ...about,
      id: attempt.messageId!,
      waId: '',
      template: '',
      text: '',
      footer: null,
      code,
      status: 'accepted',
      dropped: false,
      acceptedAt: at,
      failureCode: null,
      reportedAt: null,
      category: 'authentication',
      sentAt: iso(row.sentAt),
      deliveredAt: iso(row.deliveredAt),
      readAt: null,
      failedAt: iso(row.failedAt),
    });
  }

  /** The creation, the guesses half a second later (after the deadline where one is told so), and then the status. */
  #recordRequests(row: SendRow, idempotencyKey: string | null, code: string, guesses: Judgement[]): void {
    const { accountId, applicationId, mode, recipient, id: sendId } = row;
    const at = row.createdAt - CLOCK_START;
    const isLate = guesses.some(({ verification }) => verification === 'expired');
    const guessedAt = at + 500 + (isLate ? VALIDITY_MS + 5_000 : 0);
    const during = (startedAt: number) => ({ accountId, startedAt, endedAt: startedAt + 2 });
    const none = { sentAt: null, deliveredAt: null, readAt: null, verifiedAt: null, failedAt: null };
    const created = viewOf({ ...row, ...none, status: 'queued', failureReason: null }, 'pending');
    const body = JSON.stringify({ to: recipient });
    this.draft.history.push({
      ...during(at - 1),
      kind: 'create',
      applicationId,
      mode,
      idempotencyKey,
      body,
      recipient,
      reply: { kind: 'answer', status: 202, body: created },
    });
    for (const [index, one] of guesses.entries())
      this.draft.history.push({
        ...during(guessedAt + 10 * index),
        kind: 'verify',
        sendId,
        code: one.valid || one.verification !== 'pending' ? code : '999999',
        reply: { kind: 'answer', status: 200, body: one },
      });
    this.draft.history.push({
      ...during(guessedAt + 100),
      kind: 'status',
      sendId,
      reply: { kind: 'answer', status: 200, body: viewOf(row, isLate ? 'expired' : row.verification) },
    });
  }

  /** A creation that was refused: the first one's again, with another body. */
  #refuse({ id, accountId }: Pick<SendRow, 'id' | 'accountId'>, reply: Reply<never>) {
    const [created] = this.creations({ id });
    const event = { ...created!, accountId, body: `${created!.body} `, reply };
    this.draft.history.push(event);
    return event;
  }

  creations({ id }: Pick<SendRow, 'id'>) {
    return this.draft.history
      .filter((event) => event.kind === 'create')
      .filter(({ reply }) => reply.kind === 'answer' && reply.body.id === id);
  }

  /** The request for the status of a send. */
  look({ id }: SendRow) {
    return this.draft.history.find((event) => event.kind === 'status' && event.sendId === id)!;
  }

  guesses({ id }: SendRow) {
    return this.draft.history
      .filter((event) => event.kind === 'verify')
      .filter(({ sendId }) => sendId === id);
  }

  ledger({ id }: SendRow, kind: 'reserved' | 'returned') {
    return this.draft.rows.ledger.find((entry) => entry.sendId === id && entry.kind === kind)!;
  }

  attempt({ id }: SendRow) {
    return this.draft.rows.attempts.find(({ sendId }) => sendId === id)!;
  }

  request({ id }: SendRow) {
    return this.draft.provider.requests.find(({ opaque }) => opaque === `${id}.1`)!;
  }

  message({ id }: SendRow) {
    return this.draft.provider.messages.find(({ opaque }) => opaque === `${id}.1`)!;
  }

  /** One more attempt. */
  addAttempt(row: SendRow, outcome: string | null, startedAt: number): void {
    row.attemptNumber += 1;
    const id = `${row.id}.${row.attemptNumber}`;
    const finishedAt = outcome === null ? null : startedAt + 1;
    const of = this.attempt(this.delivered);
    this.draft.rows.attempts.push({ ...of, id, sendId: row.id, outcome, startedAt, finishedAt });
  }
}
