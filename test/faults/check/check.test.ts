import { check, INVARIANTS } from './check.js';
import { at, attempt, goodRun } from './goodRun.js';

type Run = ReturnType<typeof goodRun>;

/** Changes the body of an answer. */
function alter({ reply }: { reply: Run['history'][number]['reply'] }, change: object): void {
  if (reply.kind !== 'answer') throw new Error('the request was not answered');
  Object.assign(reply.body, change);
}

/** For each invariant, the checker's report and the change of a good run that violates it. */
const VIOLATIONS: Readonly<Record<string, [detail: string, plant: (run: Run) => unknown]>> = {
  'accepted-has-row': ['was accepted and has no row', ({ rows }) => rows.sends.pop()],
  'one-id-for-a-key': [
    'one idempotency key has the sends verified, waiting',
    ({ waiting, verified }) => (waiting.idempotencyKey = verified.idempotencyKey),
  ],
  'key-binds-body': [
    '409 for an idempotency key with one body',
    ({ reused, created }) => (reused.body = created.body),
  ],
  'row-was-requested': [
    'send another has a row without a request',
    ({ rows, waiting }) => rows.sends.push({ ...waiting, id: 'another' }),
  ],
  'answers-fit-the-contract': [
    'status was answered 404 send_not_found',
    ({ readings }) =>
      (readings.sent.reply = { kind: 'problem', status: 404, code: 'send_not_found', retryAfter: null }),
  ],
  'units-add-up': ['credit granted 10, left 8, on sends 3', ({ rows }) => (rows.accounts[0]!.credits += 1)],
  'reserved-once': [
    '2 reservations',
    ({ rows, entry, locked }) => rows.ledger.push(entry(locked, 'reserved')),
  ],
  'returned-once': [
    'failed with 2 returns',
    ({ rows, entry, failed }) => rows.ledger.push(entry(failed, 'returned')),
  ],
  'test-is-free': [
    'test send test has a unit',
    ({ rows, entry, test }) => rows.ledger.push(entry(test, 'reserved')),
  ],
  'refused-only-without-units': [
    '402 after 4 sends with 10 units',
    ({ refused }) => (refused.accountId = 'account'),
  ],

  'due-while-delivering': ['waiting, and never due', ({ waiting }) => (waiting.dueAt = null)],
  'no-work-is-left': ['queued, overdue', ({ waiting }) => (waiting.dueAt = at(5))],
  'failure-has-time-and-reason': ['reason null', ({ failed }) => (failed.failureReason = null)],
  'encrypted-code-while-needed': [
    'live delivered with its encrypted code',
    ({ locked }) => (locked.hasEncryptedCode = true),
  ],
  'reports-are-applied': ['1 receipts were not applied', ({ rows }) => (rows.receiptsLeft = 1)],

  'status-moves-forward': ['delivered became sent', ({ verified }) => (verified.status = 'sent')],
  'verification-moves-forward': [
    'verified became pending',
    ({ verified }) => (verified.verification = 'pending'),
  ],
  'times-do-not-change': ['delivered_at changed', ({ verified }) => (verified.deliveredAt = at(5.5))],
  'constants-do-not-change': ['expires_at was', ({ verified }) => (verified.expiresAt = at(600))],
  'view-is-consistent': [
    'failed, reason null',
    ({ readings }) => alter(readings.failed, { failure_reason: null }),
  ],
  'created-during-request': ['ms after its request began', ({ waiting }) => (waiting.createdAt = at(-29))],
  'expires-on-time': [
    'expired before its deadline',
    ({ readings }) => alter(readings.waiting, { verification: 'expired' }),
  ],

  'judgement-is-consistent': [
    'valid false, pending, 0 left',
    ({ guesses }) => alter(guesses.locked[0]!, { attempts_left: 0 }),
  ],
  'attempts-left-never-repeats': [
    'left 4, 4, 2, 1',
    ({ guesses }) => alter(guesses.locked[1]!, { attempts_left: 4 }),
  ],
  'five-guesses': ['6 wrong guesses were judged', ({ locked }) => (locked.wrongGuesses = 6)],
  'guesses-are-counted': ['0 counted, 1 answered', ({ verified }) => (verified.wrongGuesses = 0)],
  'valid-once': ['2 guesses were valid', ({ guesses }) => alter(guesses.verified[2]!, { valid: true })],
  'code-decides-judgement': ['a wrong code was valid', ({ guesses }) => (guesses.test.code = '111111')],
  'valid-in-time': ['verified after its deadline', ({ test }) => (test.verifiedAt = test.expiresAt)],
  'verified-only-by-valid-guess': [
    'no guess was valid',
    ({ waiting }) => (waiting.verification = 'verified'),
  ],

  'requests-name-attempts': [
    'request 1 belongs to no attempt',
    ({ provider }) => (provider.requests[0]!.opaque = 'unknown'),
  ],
  'one-call-for-an-attempt': [
    '2 requests for 1 attempts',
    ({ provider }) => provider.requests.push(provider.requests[2]!),
  ],
  'one-code': ['different codes', ({ provider }) => (provider.messages[0]!.code = '987654')],
  'right-recipient': [
    'sent to another recipient',
    ({ provider, locked }) => (provider.messages[0]!.to = locked.recipient),
  ],
  'test-sends-nothing': [
    '1 attempts',
    ({ rows, test }) => rows.attempts.push(attempt(test, '1', 'retry', 2)),
  ],
  'no-message-after-expiry': [
    '1 messages after the deadline',
    ({ provider }) => (provider.requests[2]!.at = new Date(at(601)).toISOString()),
  ],

  'attempts-are-limited': ['6 attempts in the row', ({ waiting }) => (waiting.attempts = 6)],
  'one-attempt-at-a-time': [
    '1 attempts, numbered to 0',
    ({ rows, waiting }) => rows.attempts.push(attempt(waiting, '1', 'retry', 2)),
  ],
  'no-call-after-failure': [
    'an attempt began after the failure',
    ({ rows, failed }) => rows.attempts.push(attempt(failed, '2', 'retry', 5)),
  ],
  'no-call-for-a-finished-code': [
    'an attempt began after the code was locked',
    ({ locked }) => (locked.lockedAt = at(2)),
  ],
  'no-call-after-acceptance': [
    'an attempt began after one was accepted',
    ({ rows, locked }) => rows.attempts.push(attempt(locked, '2', 'retry', 4)),
  ],
  'sent-was-accepted': ['delivered without a message', ({ provider }) => provider.messages.splice(2, 1)],
  'accepted-is-sent': [
    'queued with an accepted attempt',
    ({ rows, waiting }) => rows.attempts.push(attempt(waiting, '1', 'accepted', 2)),
  ],
  'reports-show-in-send': ['after a report “delivered”', ({ locked }) => (locked.deliveredAt = null)],
  'reported-failure-fails-send': [
    'sent, and every message has failed',
    ({ failed }) => Object.assign(failed, { status: 'sent', sentAt: at(3), failedAt: null }),
  ],
  'a-sender-fault-fails-no-send': [
    'after faults of 1 senders, while sender 2 delivered',
    ({ provider }) => (provider.messages[3]!.failureCode = 131042),
  ],
  'a-throttle-fails-no-send': [
    'after 1 throttled calls',
    ({ provider }) => {
      Object.assign(provider.requests[3]!, { messageId: null, http: 400, code: 130429 });
      provider.messages.pop();
    },
  ],
};

it('check returns nothing for a run in which every invariant holds', () => {
  expect(check(goodRun())).toEqual([]);
});

it.each(Object.keys(INVARIANTS))(
  'check returns a violation of %s, without codes and numbers',
  (invariant) => {
    const [expected, plant] = VIOLATIONS[invariant]!;
    const run = goodRun();
    plant(run);
    const details = check(run)
      .filter((violation) => violation.invariant === invariant)
      .map(({ detail }) => detail);
    expect(details).toContainEqual(expect.stringContaining(expected));
    for (const detail of details) expect(detail).not.toMatch(/wamid|\+55|\b\d{6}\b/);
  },
);
