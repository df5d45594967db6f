import type { SendView } from '@onecode/testing';
import type { ClientEvent, Judgement } from '../evidence.js';
import { check, INVARIANTS } from './check.js';
import { GoodRun, judgement, VALIDITY_MS } from './goodRun.js';

const MINUTE_MS = 60_000;

type Violate = (run: GoodRun) => void;

/** Changes what was answered. */
function change(event: ClientEvent | undefined, values: Partial<SendView & Judgement>): void {
  if (event?.reply.kind !== 'answer') throw new Error('the request was not answered');
  Object.assign(event.reply.body, values);
}

/** The send's only call was answered with a throttle, and it failed. */
function failByThrottle(run: GoodRun, answer: { code: number | null; http: number }): void {
  const { provider } = run.draft;
  provider.messages = provider.messages.filter((one) => one !== run.message(run.failed));
  Object.assign(run.request(run.failed), { messageId: null, outcome: 'refused', ...answer });
}

/** A message fails for a fault of its sender, at the time at which another sender delivers one. */
function failByCode(run: GoodRun, failureCode: number): void {
  run.message(run.failed).failureCode = failureCode;
  Object.assign(run.message(run.delivered), { sender: '2', acceptedAt: run.message(run.failed).failedAt });
}

/** By invariant: violations that the checker must report. */
const VIOLATIONS: Readonly<Record<string, readonly Violate[]>> = {
  'accepted-has-row': [(run) => change(run.creations(run.waiting)[0], { id: 'unknown' })],
  'one-id-for-a-key': [
    ({ delivered, verified }) => void (delivered.idempotencyKey = verified.idempotencyKey),
  ],
  'key-binds-body': [
    (run) => void (run.conflict.body = run.creations(run.verified)[0]!.body),
    (run) => void Object.assign(run.conflict, { reply: run.creations(run.verified)[0]!.reply }),
  ],
  'row-was-requested': [
    (run) => {
      const [creation] = run.creations(run.waiting);
      run.draft.history = run.draft.history.filter((event) => event !== creation);
    },
    (run) => void Object.assign(run.creations(run.failed)[0]!, { reply: run.unpaid.reply }),
  ],
  'answers-fit-the-contract': [
    (run) => void (run.look(run.delivered).reply = run.conflict.reply),
    ({ unpaid }) => void Object.assign(unpaid.reply, { status: 429, code: 'rate_limited' }),
  ],
  'units-add-up': [
    ({ account }) => void (account.credits += 1),
    ({ account }) => void (account.freeQuota -= 1),
  ],
  'reserved-once': [
    (run) => void (run.ledger(run.delivered, 'reserved').bucket = 'free_quota'),
    (run) => void (run.ledger(run.delivered, 'reserved').sendId = null),
  ],
  'returned-once': [
    (run) => void (run.ledger(run.failed, 'returned').bucket = 'free_quota'),
    (run) => void (run.ledger(run.failed, 'returned').sendId = null),
    (run) => void (run.ledger(run.failed, 'returned').sendId = run.delivered.id),
  ],
  'test-is-free': [
    ({ unpaid }) => void (unpaid.mode = 'test'),
    (run) => void (run.ledger(run.delivered, 'reserved').sendId = run.test.id),
  ],
  'refused-only-when-empty': [({ unpaid, account }) => void (unpaid.accountId = account.id)],

  'due-before-the-deadline': [({ waiting }) => void (waiting.dueAt = waiting.expiresAt + 2 * VALIDITY_MS)],
  'nothing-is-left': [
    ({ waiting, draft }) =>
      void Object.assign(waiting, { awaitingSender: false, dueAt: draft.rows.now - MINUTE_MS }),
  ],
  'settled-code-awaits-nobody': [({ waiting }) => void (waiting.lockedAt = waiting.createdAt + 1)],
  'no-attempt-of-a-failed-send': [({ failed }) => void (failed.isClaimed = true)],
  'no-sealed-code-once-settled': [({ verified }) => void (verified.hasSealedCode = true)],
  'receipts-dealt-with': [({ draft }) => void (draft.rows.receiptsLeft = 1)],

  'status-moves-forward': [(run) => change(run.look(run.delivered), { status: 'read' })],
  'verification-moves-forward': [(run) => change(run.look(run.delivered), { verification: 'locked' })],
  'times-stay': [
    (run) => change(run.look(run.delivered), { delivered_at: '2026-11-20T13:00:00.000Z' }),
    ({ failed }) => void (failed.failedAt! += 1),
  ],
  'constants-stay': [
    (run) => change(run.creations(run.waiting)[0], { expires_at: '2026-11-20T13:00:00.000Z' }),
    (run) => change(run.look(run.waiting), { mode: 'test' }),
  ],
  'created-when-asked': [
    (run) => {
      const [creation] = run.creations(run.waiting);
      creation!.startedAt -= MINUTE_MS;
      creation!.endedAt -= MINUTE_MS;
    },
  ],
  'expires-on-time': [
    (run) => change(run.look(run.delivered), { verification: 'expired' }),
    (run) => change(run.look(run.expired), { verification: 'pending' }),
  ],

  'judgement-agrees-with-itself': [
    (run) => change(run.guesses(run.test)[0], { attempts_left: 1 }),
    (run) => change(run.guesses(run.expired)[0], { attempts_left: 4 }),
  ],
  'attempts-left-never-repeats': [
    (run) => change(run.guesses(run.locked)[1], { attempts_left: 4 }),
    (run) => {
      change(run.guesses(run.locked)[0], { attempts_left: 3 });
      change(run.guesses(run.locked)[1], { attempts_left: 4 });
    },
  ],
  'guesses-are-counted': [
    ({ verified }) => void (verified.wrongGuesses = 0),
    ({ verified }) => void (verified.wrongGuesses = 2),
  ],
  'valid-once': [(run) => change(run.guesses(run.verified)[2], { valid: true })],
  'code-decides': [
    (run) => void (run.guesses(run.test)[0]!.code = '111111'),
    (run) => void (run.guesses(run.verified)[0]!.code = run.guesses(run.verified)[1]!.code),
  ],
  'valid-in-time': [(run) => void (run.guesses(run.test)[0]!.startedAt += VALIDITY_MS + MINUTE_MS)],
  'success-is-kept': [
    ({ failed }) => void (failed.verification = 'verified'),
    (run) => change(run.guesses(run.expired)[0], judgement('verified', 0, true)),
  ],

  'requests-are-ours': [
    (run) => void (run.request(run.delivered).opaque = 'unknown'),
    (run) => void (run.message(run.delivered).opaque = null),
  ],
  'one-call-for-an-attempt': [(run) => void run.draft.provider.requests.push(run.request(run.delivered))],
  'one-code': [
    (run) => void run.draft.provider.messages.push({ ...run.message(run.delivered), code: '987654' }),
    (run) => void (run.creations(run.delivered)[0]!.body = '{"code":"4711"}'),
  ],
  'right-recipient': [(run) => void (run.message(run.delivered).to = run.locked.recipient)],
  'test-sends-nothing': [(run) => run.addAttempt(run.test, 'retry', run.test.createdAt)],
  'no-message-after-expiry': [
    (run) => void (run.request(run.delivered).at = new Date(run.delivered.expiresAt).toISOString()),
    (run) => run.addAttempt(run.waiting, 'retry', run.waiting.expiresAt),
  ],

  'attempts-are-limited': [
    ({ draft }) => void (draft.attemptsMax = 0),
    ({ waiting }) => void (waiting.attempts = 6),
  ],
  'one-attempt-at-a-time': [
    ({ delivered }) => void (delivered.attemptNumber = 0),
    (run) => run.addAttempt(run.waiting, null, run.waiting.createdAt),
  ],
  'no-call-after-failure': [(run) => run.addAttempt(run.failed, 'retry', run.failed.failedAt! + 1)],
  'no-call-once-accepted': [
    (run) => run.addAttempt(run.delivered, 'retry', run.attempt(run.delivered).finishedAt! + 1),
  ],
  'no-call-for-a-settled-code': [({ locked }) => void (locked.lockedAt = locked.createdAt)],
  'sent-was-accepted': [(run) => void (run.message(run.delivered).opaque = null)],
  'accepted-is-sent': [(run) => run.addAttempt(run.waiting, 'accepted', run.waiting.createdAt)],
  'receipts-count': [
    ({ locked }) => void (locked.status = 'sent'),
    ({ locked }) => void (locked.deliveredAt = null),
    (run) => void (run.message(run.delivered).failedAt = run.message(run.delivered).deliveredAt),
  ],
  'reported-failure-counts': [({ failed }) => void (failed.status = 'sent')],
  'a-sender-fault-fails-no-send': [(run) => failByCode(run, 131042), (run) => failByCode(run, 132015)],
  'a-throttle-fails-no-send': [
    (run) => failByThrottle(run, { code: 130429, http: 400 }),
    (run) => failByThrottle(run, { code: null, http: 503 }),
  ],
};

describe('the checker', () => {
  it('finds nothing in a run that keeps every promise', () => {
    expect(check(new GoodRun().draft)).toEqual([]);
  });

  it('has violations of each invariant to be tested on', () => {
    expect(Object.keys(VIOLATIONS).toSorted()).toEqual(Object.keys(INVARIANTS).toSorted());
  });

  const cases = Object.entries(VIOLATIONS).flatMap(([name, violations]) =>
    violations.map((violate, n) => ({ name, n: n + 1, violate })),
  );
  it.each(cases)('reports a violation of $name ($n)', ({ name, violate }) => {
    const run = new GoodRun();
    violate(run);
    const found = check(run.draft);
    expect(found.map(({ invariant }) => invariant)).toContain(name);
    for (const { detail } of found) expect(detail).not.toMatch(/wamid|\+55|\b\d{6}\b/);
  });
});
