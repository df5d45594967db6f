import type { SendView } from '@onecode/testing';
import type { Creation, Guess, Judgement, LedgerRow, SendRow, StatusRequest } from '../evidence.js';
import { goodRun, type GoodRun } from './goodRun.js';
import { VALIDITY_MS } from './serviceModel.js';

const MINUTE_MS = 60_000;
/** An id that is in no run. */
const UNKNOWN_ID = '00000000-0000-4000-8000-999999999999';

/** Violates one invariant of a valid run, and no other. */
type Violate = (run: GoodRun) => void;

/** By invariant: violations that the checker must report. */
export const VIOLATIONS: Readonly<Record<string, readonly Violate[]>> = {
  'accepted-has-row': [
    (run) => {
      const [creation] = creationsOf(run, run.waiting);
      const copy = structuredClone(creation!);
      changeView(copy, { id: UNKNOWN_ID });
      run.draft.history.push(copy);
    },
  ],
  'one-id-for-a-key': [
    (run) => {
      run.delivered.idempotencyKey = run.verified.idempotencyKey;
      const [original] = creationsOf(run, run.verified);
      for (const { body, idempotencyKey } of [original!])
        Object.assign(creationsOf(run, run.delivered)[0]!, { body, idempotencyKey });
    },
  ],
  'key-binds-body': [
    (run) => {
      refusedCreation(run, 409).body = creationsOf(run, run.verified)[0]!.body;
    },
    (run) => {
      refusedCreation(run, 409).reply = creationsOf(run, run.verified)[0]!.reply;
    },
  ],
  'row-was-requested': [
    (run) => {
      const [creation] = creationsOf(run, run.waiting);
      run.draft.history = run.draft.history.filter((event) => event !== creation);
    },
    (run) => {
      const [creation] = creationsOf(run, run.failedUnseen);
      creation!.reply = { kind: 'problem', status: 429, code: 'rate_limited', retryAfter: 1 };
    },
  ],
  'answers-fit-the-contract': [
    (run) => {
      statusRequestsOf(run, run.delivered)[0]!.reply = {
        kind: 'problem',
        status: 404,
        code: 'send_not_found',
        retryAfter: null,
      };
    },
    (run) => {
      refusedCreation(run, 402).reply = {
        kind: 'problem',
        status: 429,
        code: 'rate_limited',
        retryAfter: null,
      };
    },
  ],
  'units-add-up': [
    (run) => void (accountOf(run).credits += 1),
    (run) => void (accountOf(run).freeQuota -= 1),
    (run) => {
      accountOf(run).credits -= 1;
      accountOf(run).freeQuota += 1;
    },
  ],
  'reserved-once': [
    (run) => void run.draft.rows.ledger.push({ ...ledgerEntriesOf(run, run.delivered, 'reserved')[0]! }),
    (run) => {
      const [entry] = ledgerEntriesOf(run, run.delivered, 'reserved');
      entry!.bucket = entry!.bucket === 'credit' ? 'free_quota' : 'credit';
    },
    (run) => {
      const [entry] = ledgerEntriesOf(run, run.delivered, 'reserved');
      run.draft.rows.ledger = run.draft.rows.ledger.filter((one) => one !== entry);
    },
  ],
  'returned-once': [
    (run) => void run.draft.rows.ledger.push({ ...ledgerEntriesOf(run, run.failed, 'returned')[0]! }),
    (run) => {
      const [entry] = ledgerEntriesOf(run, run.failed, 'returned');
      run.draft.rows.ledger = run.draft.rows.ledger.filter((one) => one !== entry);
    },
    (run) => {
      const [entry] = ledgerEntriesOf(run, run.delivered, 'reserved');
      run.draft.rows.ledger.push({ ...entry!, kind: 'returned' });
    },
    (run) => void (ledgerEntriesOf(run, run.failed, 'returned')[0]!.bucket = 'free_quota'),
    (run) => {
      const [entry] = ledgerEntriesOf(run, run.reclaimed, 'reclaimed');
      run.draft.rows.ledger = run.draft.rows.ledger.filter((one) => one !== entry);
    },
  ],
  'test-is-free': [
    (run) => void (refusedCreation(run, 402).mode = 'test'),
    ({ draft, test }) => {
      const { accountId, id } = test;
      draft.rows.ledger.push({ accountId, sendId: id, kind: 'reserved', bucket: 'credit', units: 1 });
    },
  ],
  'refused-only-when-empty': [(run) => void (refusedCreation(run, 402).accountId = run.accountId)],

  'undelivered-is-due': [
    ({ waiting }) => void (waiting.dueAt = null),
    ({ delivered, draft }) => void (delivered.dueAt = draft.rows.now),
    ({ waiting }) => void (waiting.dueAt = waiting.expiresAt + 2 * VALIDITY_MS),
  ],
  'nothing-is-left': [
    ({ waiting, draft }) =>
      void Object.assign(waiting, { awaitingSender: false, dueAt: draft.rows.now - MINUTE_MS }),
  ],
  'settled-code-awaits-nobody': [({ waiting }) => void (waiting.lockedAt = waiting.createdAt + 1)],
  'failed-says-why': [
    ({ failedUnseen }) => void (failedUnseen.failureReason = null),
    ({ failedUnseen }) => void (failedUnseen.isClaimed = true),
  ],
  'sealed-code-while-needed': [
    ({ delivered }) => void (delivered.hasSealedCode = true),
    ({ failed }) => void (failed.hasSealedCode = true),
    ({ locked }) => void Object.assign(locked, { hasSealedCode: true }),
    ({ waiting }) => void (waiting.hasSealedCode = false),
  ],
  'receipts-dealt-with': [({ draft }) => void (draft.rows.receiptsLeft = 1)],

  'status-moves-forward': [(run) => changeView(statusRequestsOf(run, run.verified)[2], { status: 'sent' })],
  'verification-moves-forward': [
    (run) => changeJudgement(guessesOf(run, run.expired)[0], { verification: 'verified' }),
  ],
  'times-stay': [
    (run) => {
      const view = statusRequestsOf(run, run.verified)[2]!;
      changeView(view, { delivered_at: new Date(run.verified.deliveredAt! + 1).toISOString() });
    },
    (run) => void (run.failed.failedAt! += 1),
  ],
  'constants-stay': [
    (run) => changeView(creationsOf(run, run.waiting)[0], { expires_at: '2026-11-20T13:00:00.000Z' }),
    (run) => changeView(statusRequestsOf(run, run.waiting)[0], { mode: 'test' }),
  ],
  'view-agrees-with-itself': [
    (run) => changeView(statusRequestsOf(run, run.delivered)[0], { delivered_at: null }),
    (run) => changeView(statusRequestsOf(run, run.failed)[0], { failure_reason: null }),
  ],
  'created-when-asked': [
    (run) => {
      const [creation] = creationsOf(run, run.waiting);
      creation!.startedAt -= MINUTE_MS;
      creation!.endedAt -= MINUTE_MS;
    },
  ],
  'expires-on-time': [
    (run) => changeView(statusRequestsOf(run, run.expired)[0], { verification: 'expired' }),
    (run) => changeView(statusRequestsOf(run, run.expired)[1], { verification: 'pending' }),
  ],

  'judgement-agrees-with-itself': [
    (run) => changeJudgement(guessesOf(run, run.test)[0], { attempts_left: 1 }),
    (run) => changeJudgement(guessesOf(run, run.expired)[0], { attempts_left: 4 }),
  ],
  'attempts-left-never-repeats': [
    (run) => changeJudgement(guessesOf(run, run.locked)[1], { attempts_left: 4 }),
    (run) => {
      changeJudgement(guessesOf(run, run.locked)[0], { attempts_left: 3 });
      changeJudgement(guessesOf(run, run.locked)[1], { attempts_left: 4 });
    },
  ],
  'five-guesses': [({ locked }) => void (locked.wrongGuesses = 6)],
  'guesses-are-counted': [
    ({ verified }) => void (verified.wrongGuesses = 0),
    ({ verified }) => void (verified.wrongGuesses = 2),
  ],
  'valid-once': [(run) => changeJudgement(guessesOf(run, run.verified)[2], { valid: true })],
  'code-decides': [
    (run) => void (guessesOf(run, run.test)[0]!.code = '111111'),
    (run) => void (guessesOf(run, run.verified)[0]!.code = guessesOf(run, run.verified)[1]!.code),
  ],
  'valid-in-time': [
    ({ test }) => void (test.verifiedAt = test.expiresAt),
    (run) => {
      const [guess] = guessesOf(run, run.test);
      guess!.startedAt += VALIDITY_MS + MINUTE_MS;
      guess!.endedAt = guess!.startedAt + 1;
    },
  ],
  'success-is-kept': [
    ({ delivered }) =>
      void Object.assign(delivered, { verification: 'verified', verifiedAt: delivered.expiresAt - 1 }),
  ],

  'requests-are-ours': [
    ({ draft }) => void draft.provider.requests.push({ ...draft.provider.requests[0]!, opaque: UNKNOWN_ID }),
    ({ draft }) => void draft.provider.messages.push({ ...draft.provider.messages[0]!, opaque: null }),
  ],
  'one-call-for-an-attempt': [
    ({ draft }) => void draft.provider.requests.push({ ...draft.provider.requests[0]! }),
  ],
  'one-code': [
    (run) => void (messagesOf(run, run.verified)[1]!.code = '987654'),
    (run) => void (messagesOf(run, run.locked)[0]!.code = '987654'),
  ],
  'right-recipient': [(run) => void (messagesOf(run, run.delivered)[0]!.to = run.locked.recipient)],
  'test-sends-nothing': [(run) => addAttempt(run, run.test, 'retry', run.test.createdAt)],
  'no-message-after-expiry': [
    (run) => {
      const [message] = messagesOf(run, run.delivered);
      requestOf(run, message!.id).at = new Date(run.delivered.expiresAt).toISOString();
    },
    (run) => addAttempt(run, run.waiting, 'retry', run.waiting.expiresAt),
  ],

  'attempts-are-limited': [
    ({ draft, verified, locked }) => {
      draft.attemptsMax = 1;
      for (const row of [verified, locked]) row.attempts = 1;
    },
    ({ waiting }) => void (waiting.attempts = 6),
  ],
  'one-attempt-at-a-time': [
    (run) => addAttempt(run, run.delivered, 'retry', run.delivered.createdAt, run.delivered.createdAt + 1, 0),
    (run) => addAttempt(run, run.waiting, null, run.waiting.createdAt),
  ],
  'no-call-after-failure': [(run) => addAttempt(run, run.failed, 'retry', run.failed.failedAt! + 1)],
  'no-call-once-accepted': [
    (run) => {
      const [accepted] = attemptsOf(run, run.delivered);
      addAttempt(run, run.delivered, 'retry', accepted!.finishedAt! + 1);
    },
  ],
  'no-call-for-a-settled-code': [
    (run) => addAttempt(run, run.unsent, 'retry', run.unsent.verifiedAt! + 2),
    ({ locked }) => void (locked.lockedAt = locked.createdAt),
  ],
  'sent-was-accepted': [
    (run) => {
      const removed = messagesOf(run, run.delivered);
      run.draft.provider.messages = run.draft.provider.messages.filter(
        (message) => !removed.includes(message),
      );
    },
  ],
  'accepted-is-sent': [(run) => addAttempt(run, run.waiting, 'accepted', run.waiting.createdAt)],
  'receipts-count': [
    ({ locked }) => void Object.assign(locked, { status: 'sent', deliveredAt: null }),
    ({ locked }) => void (locked.deliveredAt = null),
    (run) => {
      const [message] = messagesOf(run, run.delivered);
      message!.failedAt = message!.deliveredAt;
    },
  ],
  'a-sender-fault-fails-no-send': [(run) => failByCode(run, 131042), (run) => failByCode(run, 132015)],
  'a-throttle-fails-no-send': [
    (run) => failByThrottle(run, { code: 130429, http: 400 }),
    (run) => failByThrottle(run, { code: null, http: 503 }),
  ],
  'reported-failure-counts': [
    (run) => {
      const { failedUnseen, draft } = run;
      const [entry] = ledgerEntriesOf(run, failedUnseen, 'returned');
      draft.rows.ledger = draft.rows.ledger.filter((one) => one !== entry);
      accountOf(run).credits -= 1;
      const sentAt = failedUnseen.failedAt;
      Object.assign(failedUnseen, { status: 'sent', sentAt, failedAt: null, failureReason: null });
    },
  ],
};

/** A valid run with one violation. */
export function evidenceWith(violate: Violate): GoodRun['draft'] {
  const run = goodRun();
  violate(run);
  return run.draft;
}

const creationsOf = ({ draft }: GoodRun, { id }: SendRow): Creation[] =>
  draft.history
    .filter((event) => event.kind === 'create')
    .filter(({ reply }) => reply.kind === 'answer' && reply.body.id === id);
const statusRequestsOf = ({ draft }: GoodRun, { id }: SendRow): StatusRequest[] =>
  draft.history.filter((event) => event.kind === 'status').filter(({ sendId }) => sendId === id);
const guessesOf = ({ draft }: GoodRun, { id }: SendRow): Guess[] =>
  draft.history.filter((event) => event.kind === 'verify').filter(({ sendId }) => sendId === id);

/** Changes the send in an answer. */
function changeView(event: Creation | StatusRequest | undefined, change: Partial<SendView>): void {
  if (event?.reply.kind !== 'answer') throw new Error('the request was not answered');
  event.reply = { ...event.reply, body: { ...event.reply.body, ...change } };
}
/** Changes the answer to a guess. */
function changeJudgement(event: Guess | undefined, change: Partial<Judgement>): void {
  if (event?.reply.kind !== 'answer') throw new Error('the request was not answered');
  event.reply = { ...event.reply, body: { ...event.reply.body, ...change } };
}

const refusedCreation = ({ draft }: GoodRun, status: number): Creation => {
  const found = draft.history
    .filter((event) => event.kind === 'create')
    .find(({ reply }) => reply.kind === 'problem' && reply.status === status);
  if (found === undefined) throw new Error(`no creation was refused with ${status}`);
  return found;
};
const ledgerEntriesOf = ({ draft }: GoodRun, { id }: SendRow, kind: LedgerRow['kind']): LedgerRow[] =>
  draft.rows.ledger.filter((entry) => entry.sendId === id && entry.kind === kind);
const accountOf = ({ draft, accountId }: GoodRun): GoodRun['draft']['rows']['accounts'][number] =>
  draft.rows.accounts.find(({ id }) => id === accountId)!;
const attemptsOf = ({ draft }: GoodRun, { id }: SendRow): GoodRun['draft']['rows']['attempts'] =>
  draft.rows.attempts.filter(({ sendId }) => sendId === id);
const messagesOf = (run: GoodRun, row: SendRow): GoodRun['draft']['provider']['messages'] =>
  run.draft.provider.messages.filter(({ opaque }) => attemptsOf(run, row).some(({ id }) => id === opaque));
const requestOf = (run: GoodRun, messageId: string): GoodRun['draft']['provider']['requests'][number] =>
  run.draft.provider.requests.find((request) => request.messageId === messageId)!;

/** A message fails for a fault of its sender, at the time at which another sender delivers one. */
function failByCode(run: GoodRun, failureCode: number): void {
  const [failed] = messagesOf(run, run.failedUnseen);
  const [delivered] = messagesOf(run, run.delivered);
  Object.assign(failed!, { failureCode });
  Object.assign(delivered!, { sender: '2', acceptedAt: failed!.failedAt });
}

/** A send with a message fails although its only call was throttled. */
function failByThrottle(run: GoodRun, answer: { code: number | null; http: number }): void {
  const { provider } = run.draft;
  const [message] = messagesOf(run, run.failedUnseen);
  Object.assign(requestOf(run, message!.id), { messageId: null, outcome: 'refused', ...answer });
  provider.messages = provider.messages.filter((one) => one !== message);
  for (const attempt of attemptsOf(run, run.failedUnseen))
    Object.assign(attempt, { outcome: 'retry', messageId: null });
  Object.assign(run.failedUnseen, { sentAt: null, failureReason: 'attempts_exhausted' });
}

function addAttempt(
  { draft }: GoodRun,
  row: SendRow,
  outcome: string | null,
  startedAt: number,
  finishedAt = outcome === null ? null : startedAt + 1,
  calls = 1,
): void {
  row.attemptNumber += calls;
  const attemptId = `${UNKNOWN_ID.slice(0, -6)}${String(draft.rows.attempts.length).padStart(6, '0')}`;
  const attempt = {
    id: attemptId,
    sendId: row.id,
    senderId: '1',
    outcome,
    errorCode: null,
    messageId: null,
    startedAt,
    finishedAt,
    reportedAt: null,
  };
  draft.rows.attempts.push(attempt);
}
