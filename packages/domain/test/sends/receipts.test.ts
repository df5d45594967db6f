import {
  afterHold,
  agreesWith,
  decideReceipt,
  foldReceipts,
  postponeOrFail,
  DONE,
  UNCLAIMED,
  type AttemptOutcome,
  type Outcome,
  type Receipt,
  type ReportedAttempt,
  type Send,
} from '@onecode/domain';
import {
  at,
  CONFIG_FAULT,
  LIFE_SECONDS,
  ms,
  POLICY,
  RECIPIENT_FAULT,
  REQUEST_FAULT,
  retryable,
  SENDER_FAULT,
  sendingSend,
  sentSend,
  UNKNOWN,
  written,
} from './sendFixtures.js';

const NOW = at(60);
const KEY = '1:AAAAAAAAAAAAAAAAAAAAAA';
/** The second attempt is in progress. */
const NEXT = { attemptNumber: 2, claimedAt: at(40), claimedUntil: ms(NOW, 1) };

function report(status: Receipt['status'], occurredAt = at(30), failure: Outcome = RECIPIENT_FAULT): Receipt {
  return {
    messageId: 'wamid.1',
    attempt: { sendId: sentSend().id, number: 1 },
    status,
    occurredAt,
    failure: status === 'failed' && failure.kind !== 'accepted' ? failure : null,
  };
}

/** An attempt, with its outcome; null while it is in progress. */
const attempt = (
  fields: Partial<ReportedAttempt> & { outcome?: AttemptOutcome | null } = {},
): ReportedAttempt & { outcome: AttemptOutcome | null } => ({
  number: 1,
  senderId: 'sender-1',
  phoneNumberId: '106540352242922',
  recipientKey: KEY,
  startedAt: at(0),
  outcome: 'accepted',
  messageStatus: null,
  ...fields,
});

describe('afterHold', () => {
  const dropped = {
    kind: 'retry',
    errorCode: 135000,
    reason: 'refused',
    throttled: 'none',
    retryAfterSeconds: null,
  } as const;

  it('returns a fault of the portfolio if a held message was dropped', () => {
    expect(afterHold(dropped, 'held_for_quality_assessment')).toMatchObject({
      kind: 'config',
      errorCode: 135000,
      scope: 'portfolio',
    });
  });

  it.each([
    [dropped, null],
    [dropped, 'paused'],
    [{ ...dropped, errorCode: 131000 }, 'held_for_quality_assessment'],
  ] as const)('returns %j unchanged if the message status is %s', (failure, messageStatus) => {
    expect(afterHold(failure, messageStatus)).toBe(failure);
  });
});

const NOTHING = { attempts: [] };
const apply = (
  send: Send,
  receipt: Receipt,
  { outcome, ...which } = attempt(),
  others: readonly (readonly [number, AttemptOutcome])[] = [],
) => {
  const outcomes = new Map([...others, ...(outcome === null ? [] : [[which.number, outcome] as const])]);
  const before = { send, now: NOW, outcomes, policy: POLICY };
  return decideReceipt(before, { receipt, attempt: which });
};
const after = (...given: Parameters<typeof apply>): Send => written(given[0], apply(...given));

describe('a progress receipt', () => {
  it.each([
    ['sent', 'delivered', 'delivered'],
    ['sent', 'read', 'read'],
    ['delivered', 'read', 'read'],
    ['delivered', 'sent', 'delivered'],
    ['read', 'delivered', 'read'],
  ] as const)('moves a send from %s with the report `%s` to %s', (before, reported, status) => {
    expect(after(sentSend({ status: before }), report(reported)).status).toBe(status);
  });

  it('sets only its own time, because read does not imply delivered', () => {
    expect(after(sentSend(), report('read'))).toMatchObject({ deliveredAt: null, readAt: at(30) });
    expect(after(sentSend(), report('delivered'))).toMatchObject({ deliveredAt: at(30), readAt: null });
  });

  it('changes nothing if it is repeated', () => {
    const delivered = sentSend({ status: 'delivered', deliveredAt: at(10) });
    expect(apply(delivered, report('delivered'))).toEqual(NOTHING);
    expect(apply(delivered, report('sent'))).toEqual(NOTHING);
  });

  it.each(['sent', 'delivered', 'read'] as const)(
    'marks an attempt without a response as accepted: %s',
    (reported) => {
      const send = sendingSend({ ...UNCLAIMED, receiptUntil: at(30), phase: 'waiting' });
      const decision = apply(send, report(reported), attempt({ outcome: 'unknown' }));
      expect(written(send, decision)).toMatchObject({
        status: reported,
        ...(reported === 'sent' ? { phase: 'unconfirmed', encryptedCode: send.encryptedCode } : DONE),
        dueAt: null,
        [`${reported}At`]: at(30),
      });
      const named = { number: 1, senderId: 'sender-1', startedAt: at(0), errorCode: null };
      expect(decision.attempts).toEqual([{ ...named, outcome: 'accepted', messageId: 'wamid.1' }]);
    },
  );

  it('ends the claim of the worker that waits for the response', () => {
    const decision = apply(sendingSend(), report('delivered'), attempt({ outcome: null }));
    expect(written(sendingSend(), decision)).toMatchObject({ ...DONE, ...UNCLAIMED });
    expect(decision.attempts).toMatchObject([{ number: 1, outcome: 'accepted' }]);
  });

  it('of an earlier attempt ends the call in progress, and waits for the receipt of its message', () => {
    const send = sendingSend({ ...NEXT, attempts: 2, receiptUntil: at(30) });
    const decision = apply(send, report('sent'), attempt({ outcome: 'unknown' }));
    expect(written(send, decision)).toMatchObject({
      status: 'sent',
      phase: 'unconfirmed',
      ...UNCLAIMED,
      receiptUntil: ms(NOW, 32_000),
    });
    expect(decision.attempts).toMatchObject([
      { number: 1, outcome: 'accepted' },
      { number: 2, outcome: 'unknown' },
    ]);
  });

  it('does not change a failed send or its times', () => {
    const failed = sentSend({ status: 'failed', failedAt: at(20), failureReason: 'attempts_exhausted' });
    for (const status of ['sent', 'delivered', 'read'] as const)
      expect(apply(failed, report(status))).toEqual(NOTHING);
    const named = apply(failed, report('delivered'), attempt({ outcome: 'unknown' }));
    expect(written(failed, named)).toEqual(failed);
    expect(named.attempts).toMatchObject([{ outcome: 'accepted', messageId: 'wamid.1' }]);
  });
});

describe('the time of a receipt', () => {
  it('is never before the creation or the previous step', () => {
    expect(after(sentSend({ sentAt: null }), report('sent', at(-5))).sentAt).toEqual(at(0));
    expect(after(sentSend({ sentAt: at(10) }), report('delivered', at(9))).deliveredAt).toEqual(at(10));
    expect(after(sentSend({ sentAt: at(10) }), report('read', at(9))).readAt).toEqual(at(10));
    const delivered = sentSend({ status: 'delivered', deliveredAt: at(20) });
    expect(after(delivered, report('read', at(15))).readAt).toEqual(at(20));
  });

  it('is never before the time of a lost message that was sent', () => {
    const lost = sentSend({ phase: 'ready', dueAt: at(40), sentAt: at(10) });
    expect(after(lost, report('sent', at(5)), attempt({ outcome: 'unknown' })).sentAt).toEqual(at(10));
  });

  it('is never after the next step or in the future', () => {
    const read = sentSend({ status: 'read', readAt: at(20) });
    expect(after(read, report('delivered', at(25))).deliveredAt).toEqual(at(20));
    expect(after({ ...read, sentAt: null }, report('sent', at(25))).sentAt).toEqual(at(20));
    expect(after(sentSend(), report('delivered', at(3600))).deliveredAt).toEqual(NOW);
    expect(apply(sentSend(), report('failed', at(3600))).attempts).toMatchObject([{ report: { at: NOW } }]);
  });
});

describe('a failure receipt', () => {
  it('fails a sent send with rejected_by_provider after a fault of the recipient, of the request or of unknown cause', () => {
    for (const failure of [RECIPIENT_FAULT, REQUEST_FAULT, UNKNOWN]) {
      const decision = apply(sentSend(), report('failed', at(30), failure));
      expect(written(sentSend(), decision)).toMatchObject({
        status: 'failed',
        failureReason: 'rejected_by_provider',
        failedAt: NOW,
        encryptedCode: null,
        dueAt: null,
      });
      expect(decision.attempts).toMatchObject([{ number: 1, outcome: failure.kind, messageId: 'wamid.1' }]);
    }
  });

  it('fails a send that is still waiting for the response', () => {
    expect(after(sendingSend(), report('failed'), attempt({ outcome: null }))).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
      ...UNCLAIMED,
    });
  });

  it('reschedules a send with a call in progress after a temporary error or a fault of the sender', () => {
    const passing = apply(sendingSend(), report('failed', at(30), retryable()), attempt({ outcome: null }));
    expect(passing.change).toMatchObject({ ...UNCLAIMED, phase: 'backing_off', attempts: 1, dueAt: at(61) });
    const ofSender = apply(sendingSend(), report('failed', at(30), SENDER_FAULT), attempt({ outcome: null }));
    expect(ofSender.change).toMatchObject({ ...UNCLAIMED, phase: 'ready', attempts: 0, dueAt: NOW });
  });

  it.each([
    ['delivered', { status: 'delivered' }],
    ['read', { status: 'read' }],
    ['failed', { status: 'failed' }],
    ['verified', { verification: 'verified', encryptedCode: null }],
  ] as const)('is recorded without changing the send if the send is %s', (_, fields) => {
    // For an accepted call, and for one that is still waiting for its response.
    for (const outcome of ['accepted', null] as const) {
      const decision = apply(sentSend(fields), report('failed'), attempt({ outcome }));
      expect(decision).toMatchObject({
        attempts: [{ number: 1, outcome: 'accepted', report: { at: at(30), errorCode: 131026 } }],
      });
      expect(decision.change).toBeUndefined();
    }
  });

  it('is ignored if it has no reason', () => {
    expect(apply(sentSend(), { ...report('failed'), failure: null })).toEqual({});
  });

  it.each([ms(NOW, 1), at(30)])(
    'ends only its attempt during another call, with a lease until %j',
    (until) => {
      const send = sendingSend({ ...NEXT, claimedUntil: until });
      const decision = apply(send, report('failed'));
      expect(written(send, decision)).toEqual(send);
      expect(decision).toMatchObject({ attempts: [{ number: 1, outcome: 'recipient' }] });
    },
  );

  it('ends only its attempt while another message of the send may still arrive', () => {
    const decision = apply(sentSend(), report('failed'), attempt(), [[2, 'accepted']]);
    expect(written(sentSend(), decision)).toEqual(sentSend());
    expect(decision.attempts).toMatchObject([{ number: 1, outcome: 'recipient' }]);
  });

  it.each([
    ['that a receipt ended', sentSend({ attemptNumber: 2, receiptUntil: at(90) })],
    ['before the back-off ends', sendingSend({ ...UNCLAIMED, attemptNumber: 2, receiptUntil: at(90) })],
  ])('waits for the receipt of a later attempt %s before the send fails', (_, send) => {
    const decision = apply(send, report('failed'), attempt(), [[2, 'unknown']]);
    const waiting = written(send, decision);
    expect(waiting).toEqual({ ...send, phase: 'giving_up', dueAt: at(90) });
    expect(decision.attempts).toMatchObject([{ number: 1, outcome: 'recipient' }]);
    expect(postponeOrFail(waiting, at(90), POLICY).change).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
    });
    const next = apply(waiting, report('sent'), attempt({ number: 2, outcome: 'unknown' }));
    expect(written(waiting, next)).toMatchObject({ status: 'sent', phase: 'unconfirmed' });
  });

  it.each([
    ['the time for the receipt of a later attempt is over', { receiptUntil: NOW }],
    ['its code has ended', { receiptUntil: at(90), verification: 'locked', encryptedCode: null }],
  ] as const)('fails the send if %s', (_, fields) => {
    const send = sentSend({ attemptNumber: 2, ...fields });
    expect(after(send, report('failed'), attempt(), [[2, 'unknown']]).status).toBe('failed');
  });

  it('lets a retry continue after a temporary error of an earlier attempt, and fails the send after a fault of the recipient', () => {
    const waiting = sendingSend({ ...UNCLAIMED, attempts: 2, receiptUntil: at(30) });
    const passing = apply(waiting, report('failed', at(30), retryable()), attempt({ outcome: 'unknown' }));
    expect(written(waiting, passing)).toEqual(waiting);
    expect(passing.attempts).toMatchObject([{ outcome: 'retry', errorCode: 131000 }]);
    expect(after(waiting, report('failed'), attempt({ outcome: 'unknown' }))).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
    });
  });
});

describe('a failed message', () => {
  const lost = (failure: Outcome, send = sentSend(), which = attempt()) =>
    apply(send, report('failed', at(30), failure), which);

  it.each([
    ['a fault of the sender', SENDER_FAULT],
    ['a configuration fault', CONFIG_FAULT],
    ['a limit', retryable({ throttled: 'sender' })],
  ])('is sent again immediately after %s, without counting the attempt', (_what, failure) => {
    const decision = lost(failure);
    expect(decision).toMatchObject({
      attempts: [{ number: 1, outcome: failure.kind, messageId: 'wamid.1' }],
    });
    expect(written(sentSend(), decision)).toEqual(sentSend({ phase: 'ready', dueAt: NOW, attempts: 0 }));
  });

  it('is sent again after the back-off of a temporary error, while attempts are left', () => {
    expect(written(sentSend(), lost(retryable()))).toEqual(sentSend({ phase: 'backing_off', dueAt: at(61) }));
    const last = sentSend({ attempts: POLICY.attemptsMax });
    expect(written(last, lost(retryable(), last))).toMatchObject({ status: 'failed' });
  });

  it('is sent again 4^n seconds after a pair rate limit, without counting the attempt', () => {
    const last = sentSend({ attempts: POLICY.attemptsMax, attemptNumber: POLICY.attemptsMax + 1 });
    expect(written(last, lost(retryable({ throttled: 'pair' }), last))).toEqual({
      ...last,
      phase: 'backing_off',
      attempts: POLICY.attemptsMax - 1,
      dueAt: at(60 + 16),
    });
  });

  it('is due at the deadline of its code at the latest, even if Retry-After is longer', () => {
    expect(lost(retryable({ retryAfterSeconds: 900 })).change).toMatchObject({ dueAt: at(LIFE_SECONDS) });
  });

  it.each([
    ['was locked', { verification: 'locked' }],
    ['has expired', { createdAt: at(-600), expiresAt: at(60) }],
  ] as const)('fails the send if its code %s', (_how, fields) => {
    const send = sentSend(fields);
    expect(written(send, lost(SENDER_FAULT, send))).toMatchObject({
      status: 'failed',
      failureReason: 'rejected_by_provider',
      phase: 'done',
    });
  });

  it.each(['sender', 'config', 'retry'] as const)(
    'is not sent again for a repeated receipt of an attempt that ended with `%s`',
    (outcome) => {
      expect(lost(SENDER_FAULT, sentSend(), attempt({ outcome }))).toEqual({});
      const replaced = sentSend({ phase: 'calling', ...NEXT });
      expect(lost(SENDER_FAULT, replaced, attempt({ outcome }))).toEqual({});
    },
  );

  it('is still sent again after its `sent` receipt', () => {
    const send = sentSend({ phase: 'ready', dueAt: at(40) });
    expect(apply(send, report('sent'), attempt({ outcome: 'sender' }))).toEqual({});
  });

  it('is not sent again if a later receipt reports its delivery', () => {
    const send = sentSend({ phase: 'waiting', dueAt: at(LIFE_SECONDS) });
    expect(after(send, report('delivered', at(45)), attempt({ outcome: 'sender' }))).toEqual(
      sentSend({ status: 'delivered', deliveredAt: at(45) }),
    );
  });

  it('is replaced by the next message, with the sent time of that message', () => {
    const send = sentSend({ phase: 'calling', ...NEXT, dueAt: at(40) });
    const next = attempt({ number: 2, outcome: null });
    expect(after(send, report('sent', at(50)), next)).toEqual(sentSend({ attemptNumber: 2, sentAt: at(50) }));
  });
});

describe('agreesWith', () => {
  it.each([
    ['accepts a failure that names neither number nor recipient', {}, true],
    ['accepts one that names both', { phoneNumberId: '106540352242922', recipientKeys: [KEY] }, true],
    ['accepts one with several keys of the recipient', { recipientKeys: ['2:another', KEY] }, true],
    ['rejects another number', { phoneNumberId: '7', recipientKeys: [KEY] }, false],
    ['rejects another recipient', { phoneNumberId: '106540352242922', recipientKeys: ['1:another'] }, false],
  ])('%s', (_, names, expected) => {
    expect(agreesWith(names, attempt())).toBe(expected);
  });
});

describe('foldReceipts', () => {
  const PRICE = { category: 'authentication', type: 'regular', billable: true, model: 'PMP' };
  const fold = (
    send: Send,
    reports: readonly { receipt: Receipt; attempt?: ReturnType<typeof attempt> }[],
    { accepted = [1], isPriced = false } = {},
  ) => {
    const given = reports.map(({ receipt, attempt: of = attempt() }) => ({ receipt, attempt: of }));
    const outcomes = new Map(accepted.map((number) => [number, 'accepted'] as const));
    return foldReceipts({ send, now: NOW, outcomes, policy: POLICY }, given, isPriced);
  };
  const folded = (send: Send, ...reports: Parameters<typeof fold>[1][number][]): Send =>
    written(send, fold(send, reports));

  it('applies receipts in any order, and never fails a message that arrived', () => {
    const receipts = [
      { receipt: report('sent', at(10)) },
      { receipt: report('delivered', at(11)) },
      { receipt: report('read', at(12)) },
      { receipt: report('failed', at(5)) },
    ];
    const expected = sentSend({ status: 'read', encryptedCode: null, deliveredAt: at(11), readAt: at(12) });
    expect(folded(sentSend(), ...receipts)).toEqual(expected);
    expect(folded(sentSend(), ...receipts.toReversed())).toEqual(expected);
  });

  it('sets each time from its earliest receipt', () => {
    const [early, late] = [
      { receipt: report('delivered', at(20)) },
      { receipt: report('delivered', at(30)) },
    ];
    expect(folded(sentSend(), late, early).deliveredAt).toEqual(at(20));
  });

  it('applies a repeated failure once', () => {
    const failed = { receipt: report('failed', at(30), SENDER_FAULT) };
    const decision = fold(sentSend(), [failed, failed]);
    expect(decision.change).toMatchObject({ phase: 'ready' });
    expect(decision.attempts).toHaveLength(1);
  });

  it('fails the send only if all its accepted messages failed', () => {
    const [first, second] = [1, 2].map((number) => ({
      receipt: report('failed'),
      attempt: attempt({ number }),
    }));
    const both = { accepted: [1, 2] };
    expect(written(sentSend(), fold(sentSend(), [first!], both)).status).toBe('sent');
    const decision = fold(sentSend(), [first!, second!], both);
    expect(written(sentSend(), decision).status).toBe('failed');
    expect(decision.attempts!.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'recipient'],
      [2, 'recipient'],
    ]);
  });

  it('keeps the send if a receipt in the same batch reports another accepted message', () => {
    const send = sendingSend({ ...UNCLAIMED, receiptUntil: at(30) });
    const next = { receipt: report('sent'), attempt: attempt({ number: 2, outcome: 'unknown' }) };
    const decision = fold(send, [{ receipt: report('failed') }, next]);
    expect(written(send, decision).status).toBe('sent');
  });

  it('keeps the send if an earlier message was sent and failed during another call', () => {
    const send = sendingSend({ ...NEXT, attempts: 2 });
    const reports = [{ receipt: report('failed') }, { receipt: report('sent') }];
    const decision = fold(send, reports, { accepted: [] });
    expect(written(send, decision)).toMatchObject({
      status: 'sent',
      phase: 'giving_up',
      dueAt: ms(NOW, 32_000),
      ...UNCLAIMED,
    });
    expect(decision.attempts!.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, 'recipient'],
      [2, 'unknown'],
    ]);
  });

  it('returns no changes for receipts that change nothing', () => {
    const delivered = sentSend({ status: 'delivered', deliveredAt: at(10) });
    expect(fold(delivered, [{ receipt: report('delivered') }])).toEqual(NOTHING);
  });

  describe('the price of a message', () => {
    const priced = (status: Receipt['status']) => ({ receipt: { ...report(status), pricing: PRICE } });
    const plain = (status: Receipt['status']) => ({ receipt: report(status) });

    it('is returned when the message arrives, whichever receipt contains it', () => {
      for (const receipts of [[priced('sent'), plain('read'), plain('delivered')], [priced('delivered')]])
        expect(fold(sentSend(), receipts).pricing).toEqual(PRICE);
      const delivered = sentSend({ status: 'delivered', deliveredAt: at(10) });
      expect(fold(delivered, [priced('sent')]).pricing).toEqual(PRICE);
    });

    it('is not returned before the arrival, a second time, or for a failed message', () => {
      expect(fold(sentSend(), [priced('sent')]).pricing).toBeUndefined();
      expect(fold(sentSend(), [priced('read')], { isPriced: true }).pricing).toBeUndefined();
      expect(fold(sentSend(), [priced('sent'), plain('failed')]).pricing).toBeUndefined();
    });
  });
});
