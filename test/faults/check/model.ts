import type { ClientEvent, Judgement, Reply, SendRow } from '../evidence.js';
import type { SendView } from '../../harness/request.js';
import { viewOf } from './views.js';
import { LIFE_MS, ModelService } from './modelService.js';

const GUESSES_MAX = 5;

export interface Asked {
  accountId: string;
  mode?: 'test' | 'live';
  idempotencyKey?: string;
  ownCode?: string;
}

/** How a request goes: how long before it takes effect it begins, how long after it ends, and whether the answer arrives. */
export interface Course {
  beforeMs?: number;
  afterMs?: number;
  lost?: boolean;
}

/**
 * The service with its clients: what they leave behind is evidence of a good run. A request lasts from before to after the moment
 * at which it takes effect, and so requests may overlap.
 */
export class Model extends ModelService {
  readonly #bodies = new Map<string, string>();
  /** The sends whose ids a client was told: others cannot be asked for. */
  readonly #told = new Set<string>();

  /** Asks for a send. @returns its row, or null when the account is empty */
  create(asked: Asked, course: Course = {}): SendRow | null {
    const { accountId, mode = 'live', idempotencyKey = null, ownCode } = asked;
    const applicationId = `${accountId.slice(0, -1)}${mode === 'live' ? 'a' : 'b'}`;
    const account = this.draft.rows.accounts.find(({ id }) => id === accountId)!;
    this.now += 1;
    const chargedFrom = mode === 'test' ? null : account.freeQuota > 0 ? 'free_quota' : 'credit';
    const recipient = `+55119${String(70_000_000 + this.draft.history.length)}`;
    const body = JSON.stringify({ to: recipient, ...(ownCode === undefined ? {} : { code: ownCode }) });
    const about = { accountId, applicationId, mode, idempotencyKey, body, recipient };
    if (chargedFrom === 'credit' && account.credits === 0) {
      this.#note({ ...about, kind: 'create' }, problem(402, 'insufficient_credits'), course);
      return null;
    }
    if (chargedFrom !== null) account[chargedFrom === 'free_quota' ? 'freeQuota' : 'credits'] -= 1;
    const at = this.time();
    const row: SendRow = {
      id: this.newId(),
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
      attemptId: null,
      awaitingSender: false,
      dueAt: at,
      nextEnqueueAt: at + 2_000,
      createdAt: at,
      expiresAt: at + LIFE_MS,
      sentAt: null,
      deliveredAt: null,
      readAt: null,
      verifiedAt: null,
      lockedAt: null,
      failedAt: null,
      failureReason: null,
    };
    this.codes.set(
      row.id,
      ownCode ?? (mode === 'test' ? '000000' : String(100_000 + this.draft.history.length)),
    );
    this.#bodies.set(row.id, body);
    this.draft.rows.sends.push(row);
    if (chargedFrom !== null) this.book(row, 'reserved');
    this.#note({ ...about, kind: 'create' }, this.#shown(row), course);
    return row;
  }

  /** The same request again; with another body it is refused. */
  repeat(row: SendRow, course: Course = {}, otherBody = false): void {
    this.now += 1;
    const { accountId, applicationId, mode, recipient } = row;
    const idempotencyKey = Buffer.from(row.idempotencyKey!, 'hex').toString();
    const body = `${this.#bodies.get(row.id)}${otherBody ? ' ' : ''}`;
    const reply = otherBody ? problem(409, 'idempotency_key_reused') : this.#shown(row);
    const about = { accountId, applicationId, mode, idempotencyKey, body, recipient };
    this.#note({ ...about, kind: 'create' }, reply, course);
  }

  look(row: SendRow, course: Course = {}): void {
    if (!this.#told.has(row.id)) return;
    this.now += 1;
    this.#note({ accountId: row.accountId, kind: 'status', sendId: row.id }, this.#shown(row), course);
  }

  guess(row: SendRow, isRight: boolean, course: Course = {}): void {
    if (!this.#told.has(row.id)) return;
    this.now += 1;
    const code = isRight ? this.code(row) : 'wrong';
    const valid = this.#verification(row) === 'pending' && isRight;
    if (valid) Object.assign(row, { verification: 'verified', verifiedAt: this.time() });
    else if (this.#verification(row) === 'pending') {
      row.wrongGuesses += 1;
      if (row.wrongGuesses === GUESSES_MAX)
        Object.assign(row, { verification: 'locked', lockedAt: this.time() });
    }
    const verification = this.#verification(row);
    const body = {
      valid,
      verification,
      attempts_left: verification === 'pending' ? GUESSES_MAX - row.wrongGuesses : 0,
    };
    const about = { accountId: row.accountId, kind: 'verify', sendId: row.id, code } as const;
    this.#note(about, { kind: 'answer', status: 200, body }, course);
  }

  #verification(row: SendRow): Judgement['verification'] {
    if (row.verification === 'pending' && this.time() >= row.expiresAt) return 'expired';
    return row.verification as Judgement['verification'];
  }

  #shown(row: SendRow): Reply<SendView> {
    const body = viewOf(row, this.#verification(row));
    return { kind: 'answer', status: 202, body };
  }

  #note(about: object, reply: Reply<SendView | Judgement>, course: Course): void {
    const { beforeMs = 0.5, afterMs = 0.4, lost = false } = course;
    if (!lost && reply.kind === 'answer' && 'id' in reply.body) this.#told.add(reply.body.id);
    const isLook = 'kind' in about && about.kind === 'status' && reply.kind === 'answer';
    this.draft.history.push({
      startedAt: this.now - beforeMs,
      endedAt: this.now + afterMs,
      api: 0,
      ...about,
      reply: lost ? { kind: 'lost', reason: 'reset' } : isLook ? { ...reply, status: 200 } : reply,
    } as ClientEvent);
  }
}

const problem = (status: number, code: string): Reply<never> => ({
  kind: 'problem',
  status,
  code,
  retryAfter: status === 429 ? 1 : null,
});
