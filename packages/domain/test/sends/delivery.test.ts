import { DONE, settle, simulateDelivery, UNCLAIMED, type Outcome, type Send } from '@onecode/domain';
import { claim, isWorthSending } from '@onecode/testing/claim-model';
import {
  ACCEPTED,
  at,
  CONFIG_FAULT,
  CREATED_AT,
  FAILED,
  LEASE_MS,
  LIFE_SECONDS,
  liveSend,
  ms,
  NOW,
  offer,
  permit,
  POLICY,
  RECIPIENT_FAULT,
  REQUEST_FAULT,
  retryable,
  SENDER_FAULT,
  sendingSend,
  sentSend,
  testSend,
  UNKNOWN,
  written,
} from './sendFixtures.js';

const noPermit = { permit: null };
/** The first attempt as it is written at its end. */
const FIRST = { number: 1, senderId: 'sender-1', startedAt: CREATED_AT, errorCode: null, messageId: null };

describe('isWorthSending (model)', () => {
  it.each([
    ['30 seconds of a long lifetime', 600, 570],
    ['a tenth of a short lifetime', 60, 54],
  ])('returns false with %s left', (_, life, last) => {
    const send = { createdAt: CREATED_AT, expiresAt: at(life) };
    expect(isWorthSending(send, ms(at(last), -1))).toBe(true);
    expect(isWorthSending(send, at(last))).toBe(false);
  });
});

describe('claim (model) and postponeOrFail', () => {
  it('claim a queued send with channel, sender, attempt and lease', () => {
    const decision = claim(liveSend(), NOW, offer({ permit: permit({ id: 's', number: '+15550001' }) }));
    expect(decision).toEqual({
      result: 'claimed',
      change: {
        status: 'sending',
        phase: 'calling',
        channel: 'whatsapp',
        from: '+15550001',
        senderId: 's',
        attempts: 1,
        attemptNumber: 1,
        claimedAt: NOW,
        claimedUntil: ms(NOW, LEASE_MS),
      },
    });
  });

  it('refuse a claim until another worker’s lease ends', () => {
    const send = sendingSend();
    expect(claim(send, at(14.999), offer())).toEqual({ result: 'waiting' });
    expect(claim(send, at(15), offer()).result).toBe('retry');
  });

  it('end a call after its lease as unknown, and claim the send again after the back-off', () => {
    const decision = claim(sendingSend(), NOW, offer());
    expect(decision).toEqual(settle(sendingSend(), NOW, 1, UNKNOWN, POLICY));
    expect(decision.attempts).toEqual([{ ...FIRST, outcome: 'unknown' }]);
    const after = written(sendingSend(), decision);
    expect(after).toMatchObject({ phase: 'backing_off', ...UNCLAIMED, receiptUntil: ms(NOW, 32_000) });
    expect(claim(after, ms(NOW, 999), offer()).result).toBe('waiting');
    expect(claim(after, ms(NOW, 1000), offer())).toMatchObject({
      result: 'claimed',
      change: { attemptNumber: 2, attempts: 2 },
    });
  });

  it.each(['sent', 'delivered', 'read', 'failed'] as const)(
    'do not change a send with the status %s',
    (status) => {
      expect(claim(sentSend({ status }), NOW, offer())).toEqual({ result: 'done' });
    },
  );

  it('let a send without a sender wait until its deadline, without counting an attempt', () => {
    const decision = claim(liveSend(), NOW, offer(noPermit));
    expect(decision.result).toBe('waiting');
    const after = written(liveSend(), decision);
    expect(after).toMatchObject({
      status: 'queued',
      channel: null,
      attempts: 0,
      phase: 'waiting',
      dueAt: at(LIFE_SECONDS),
    });
    expect(claim(after, NOW, offer(noPermit))).toEqual({ result: 'waiting' });
    const due: Send = { ...after, phase: 'ready', dueAt: NOW };
    expect(claim(due, NOW, offer()).result).toBe('claimed');
  });

  it('keep the status `sending` of a claimed send without a sender', () => {
    const send = sendingSend({ ...UNCLAIMED, dueAt: NOW });
    expect(written(send, claim(send, NOW, offer(noPermit)))).toMatchObject({
      status: 'sending',
      phase: 'waiting',
    });
  });

  it.each([{}, noPermit])('let a send with too little time left wait until its deadline: %j', (permits) => {
    const decision = claim(liveSend(), at(570), offer(permits));
    expect(decision.result).toBe('waiting');
    const waiting = { status: 'queued', phase: 'waiting', dueAt: at(LIFE_SECONDS) };
    expect(written(liveSend(), decision)).toMatchObject(waiting);
  });

  it('fail a queued send with expired_before_delivery at its deadline', () => {
    const failedAt = at(LIFE_SECONDS);
    const decision = claim(liveSend(), failedAt, offer());
    expect(decision.result).toBe('expired_before_delivery');
    expect(decision.change).toEqual({ ...FAILED, failedAt, failureReason: 'expired_before_delivery' });
  });

  it('wait for the receipt of the last attempt if its lease ended without a response', () => {
    const send = sendingSend({ attempts: 5 });
    const decision = claim(send, NOW, offer());
    expect(decision.result).toBe('waiting');
    const after = written(send, decision);
    const until = ms(NOW, 32_000);
    expect(after).toMatchObject({ phase: 'giving_up', ...UNCLAIMED, receiptUntil: until, dueAt: until });
    expect(decision.attempts).toMatchObject([{ number: 1, outcome: 'unknown' }]);
    expect(claim(after, until, offer())).toMatchObject({
      result: 'attempts_exhausted',
      change: { ...FAILED, failedAt: until, failureReason: 'attempts_exhausted' },
    });
  });
});

const FINISHED_CODES = [
  ['verified', { verification: 'verified', verifiedAt: at(10) }],
  ['locked', { verification: 'locked' }],
] as const;

describe.each(FINISHED_CODES)('a claim of a send with a code that is %s', (_, code) => {
  const reason = 'expired_before_delivery';

  it.each([
    ['that waited for a worker', liveSend(code)],
    ['that waited for its next attempt', sendingSend({ ...code, ...UNCLAIMED, attempts: 3, dueAt: NOW })],
    ['that may have been sent and got no receipt', sendingSend({ ...code, ...UNCLAIMED, receiptUntil: NOW })],
    ['that had used all attempts', sendingSend({ ...code, ...UNCLAIMED, attempts: 5, receiptUntil: NOW })],
  ])('fails a send %s, without a call, even with a permit', (__, send) => {
    const decision = claim(send, NOW, offer());
    expect(decision.result).toBe(reason);
    expect(decision.change).toEqual({ ...FAILED, failureReason: reason });
    expect(decision.attempts).toBeUndefined();
  });

  it('waits for the receipt of an attempt with an expired lease', () => {
    const send = sendingSend(code);
    const due = written(send, claim(send, NOW, offer()));
    expect(due).toMatchObject({ phase: 'backing_off', ...UNCLAIMED, dueAt: ms(NOW, 1_000) });
    const waiting = written(due, claim(due, ms(NOW, 1_000), offer()));
    expect(waiting).toMatchObject({ phase: 'giving_up', dueAt: ms(NOW, 32_000) });
    expect(claim(waiting, ms(NOW, 32_000), offer()).result).toBe(reason);
  });

  it('does not change a call in progress', () => {
    expect(claim(sendingSend(code), at(14.999), offer()).result).toBe('waiting');
  });
});

describe('a claim with a future permit', () => {
  it('starts its lease at the permit', () => {
    const decision = claim(liveSend(), NOW, offer({ permit: permit({}, 700) }));
    expect(decision.change).toMatchObject({ claimedUntil: ms(NOW, LEASE_MS + 700) });
  });

  it('is refused if too little time is left at the permit', () => {
    const now = ms(at(570), -500);
    expect(claim(liveSend(), now, offer({ permit: permit({}, 499) })).result).toBe('claimed');
    const decision = claim(liveSend(), now, offer({ permit: permit({}, 500) }));
    expect(decision.result).toBe('waiting');
    expect(decision.change).toEqual({ phase: 'waiting', dueAt: at(LIFE_SECONDS) });
  });
});

describe('a send with a message that may have been sent', () => {
  it.each([
    ['a receipt', 32],
    ['the remaining time for a receipt', 10],
  ])('waits beyond its deadline for %s', (_, seconds) => {
    const send = sendingSend({
      ...UNCLAIMED,
      receiptUntil: at(LIFE_SECONDS + seconds),
      dueAt: at(LIFE_SECONDS),
    });
    const waiting = written(send, claim(send, at(LIFE_SECONDS), offer()));
    expect(waiting).toMatchObject({ phase: 'giving_up', dueAt: at(LIFE_SECONDS + seconds) });
    const end = claim(waiting, at(LIFE_SECONDS + seconds), offer()).result;
    expect(end).toBe('expired_before_delivery');
  });

  it.each([
    ['too little time is left', {}, at(590)],
    ['there is no sender', noPermit, at(500)],
  ])('waits until its deadline when %s for another attempt', (_, permits, now) => {
    const send = sendingSend({ ...UNCLAIMED, receiptUntil: at(595), dueAt: now });
    const waiting = written(send, claim(send, now, offer(permits)));
    expect(waiting).toMatchObject({ dueAt: at(LIFE_SECONDS), receiptUntil: at(595) });
  });
});

describe('settle', () => {
  const settled = (send: Send, outcome: Outcome) => settle(send, NOW, 1, outcome, POLICY);

  it('marks an accepted send as sent, and keeps its encrypted code', () => {
    expect(settled(sendingSend(), ACCEPTED)).toEqual({
      result: 'accepted',
      change: {
        ...UNCLAIMED,
        status: 'sent',
        phase: 'unconfirmed',
        sentAt: NOW,
        dueAt: null,
      },
      attempts: [{ ...FIRST, outcome: 'accepted', messageId: 'wamid.1' }],
    });
  });

  it('keeps a send as sending after `retry`, and makes it due after the back-off', () => {
    const decision = settled(sendingSend({ attempts: 3 }), retryable());
    expect(decision.result).toBe('retry');
    expect(decision.change).toEqual({
      ...UNCLAIMED,
      phase: 'backing_off',
      attempts: 3,
      dueAt: ms(NOW, 4000),
    });
    expect(decision.attempts).toEqual([{ ...FIRST, outcome: 'retry', errorCode: 131000 }]);
  });

  it('treats `unknown` like `retry`, except that the message may have been sent', () => {
    const decision = settled(sendingSend(), UNKNOWN);
    expect(decision.result).toBe('retry');
    expect(decision.change).toMatchObject({ receiptUntil: ms(NOW, 32_000), dueAt: ms(NOW, 1000) });
    expect(decision.attempts).toMatchObject([{ number: 1, outcome: 'unknown' }]);
  });

  it.each([
    ['sender', SENDER_FAULT],
    ['config', CONFIG_FAULT],
    ['retry', retryable({ throttled: 'sender' })],
  ])('makes the send due immediately after `%s`, without counting the attempt', (kind, outcome) => {
    const send = sendingSend({ attempts: 5 });
    const decision = settled(send, outcome);
    expect(decision.result).toBe('retry');
    const after = written(send, decision);
    expect(after).toMatchObject({ status: 'sending', phase: 'ready', attempts: 4, ...UNCLAIMED, dueAt: NOW });
    expect(decision.attempts).toMatchObject([{ outcome: kind }]);
    expect(claim(after, NOW, offer()).change).toMatchObject({ phase: 'calling', attempts: 5 });
  });

  it('makes the send due 4^n seconds after a pair rate limit, without counting the attempt', () => {
    const limit = retryable({ throttled: 'pair' });
    const last = sendingSend({ attempts: 5, attemptNumber: 5 });
    const first = settle(last, NOW, 5, limit, POLICY);
    expect(first.result).toBe('retry');
    expect(written(last, first)).toMatchObject({
      phase: 'backing_off',
      attempts: 4,
      dueAt: ms(NOW, 4_000),
    });
    const again = sendingSend({ attempts: 5, attemptNumber: 6 });
    expect(settle(again, NOW, 6, limit, POLICY).change).toMatchObject({ dueAt: ms(NOW, 16_000) });
    const expiring = sendingSend({ attempts: 1, attemptNumber: 5 });
    expect(settle(expiring, at(LIFE_SECONDS - 60), 5, limit, POLICY).change).toMatchObject({
      dueAt: at(LIFE_SECONDS),
    });
  });

  it.each([
    ['a fault of the recipient', RECIPIENT_FAULT],
    ['a configuration fault of this request', REQUEST_FAULT],
  ])('fails the send with rejected_by_provider after %s', (_, outcome) => {
    const decision = settled(sendingSend(), outcome);
    expect(decision.result).toBe('rejected_by_provider');
    expect(decision.change).toEqual({ ...FAILED, failureReason: 'rejected_by_provider' });
    expect(decision.attempts).toHaveLength(1);
  });

  it.each([
    ['its outcome is unknown', UNKNOWN, null, ms(NOW, 32_000)],
    ['its outcome is retry, and an earlier attempt is unknown', retryable(), ms(NOW, 7_000), ms(NOW, 7_000)],
  ])('waits for a receipt after the last attempt: %s', (_, outcome, before, receiptUntil) => {
    const send = sendingSend({ attempts: 5, receiptUntil: before });
    const decision = settled(send, outcome);
    expect(decision.result).toBe('waiting');
    expect(written(send, decision)).toEqual({
      ...send,
      ...UNCLAIMED,
      phase: 'giving_up',
      receiptUntil,
      dueAt: receiptUntil,
    });
  });

  it.each([null, NOW])(
    'fails the send after `retry` of the last attempt if no receipt is expected (receiptUntil: %s)',
    (receiptUntil) => {
      const decision = settled(sendingSend({ attempts: 5, receiptUntil }), retryable());
      expect(decision.result).toBe('attempts_exhausted');
      expect(decision.change).toEqual({ ...FAILED, failureReason: 'attempts_exhausted' });
    },
  );

  it('fails the send with expired_before_delivery if its code expired during the last attempt', () => {
    const late = at(LIFE_SECONDS);
    const decision = settle(sendingSend({ attempts: 5 }), late, 1, retryable(), POLICY);
    expect(decision.result).toBe('expired_before_delivery');
    expect(decision.change).toEqual({ ...FAILED, failedAt: late, failureReason: 'expired_before_delivery' });
  });

  describe('for a finished code', () => {
    const code = { verification: 'verified', verifiedAt: at(10) } as const;

    it('fails the send after `retry` when it is due again', () => {
      const send = sendingSend(code);
      const after = written(send, settled(send, retryable()));
      expect(claim(after, ms(NOW, 1_000), offer()).result).toBe('expired_before_delivery');
    });

    it('marks an accepted send as sent, erases its encrypted code, and makes nothing due', () => {
      const decision = settled(sendingSend(code), ACCEPTED);
      expect(decision.result).toBe('accepted');
      expect(decision.change).toMatchObject({
        status: 'sent',
        phase: 'done',
        encryptedCode: null,
        dueAt: null,
      });
    });
  });

  it('erases the encrypted code of a send that is accepted after its deadline', () => {
    const decision = settle(sendingSend(), at(LIFE_SECONDS), 1, ACCEPTED, POLICY);
    expect(decision.change).toMatchObject({
      status: 'sent',
      phase: 'done',
      encryptedCode: null,
      dueAt: null,
    });
  });

  it('makes the send due immediately after `retry` beyond its deadline', () => {
    const late = at(LIFE_SECONDS + 5);
    const decision = settle(sendingSend(), late, 1, retryable(), POLICY);
    expect(decision.result).toBe('retry');
    expect(decision.change).toMatchObject({ dueAt: late });
  });

  it('accepts the outcome after the lease, unless another worker has claimed the send', () => {
    const resultOf = (send: Send) => settle(send, at(500), 1, ACCEPTED, POLICY).result;
    expect(resultOf(sendingSend())).toBe('accepted');
    expect(resultOf(sendingSend({ attempts: 2, attemptNumber: 2 }))).toBe('stale');
  });

  it('never postpones a send beyond its deadline, even if Retry-After is longer', () => {
    const decision = settled(sendingSend(), retryable({ retryAfterSeconds: 900 }));
    expect(decision.change).toMatchObject({ dueAt: at(LIFE_SECONDS) });
  });

  it.each([ACCEPTED, UNKNOWN, RECIPIENT_FAULT])(
    'changes nothing after a receipt that arrived before the outcome `$kind`',
    (outcome) => {
      for (const send of [sentSend(), sentSend({ status: 'delivered', deliveredAt: at(10) })])
        expect(settled(send, outcome)).toEqual({ result: 'stale' });
    },
  );
});

describe('a test send', () => {
  it('is read immediately, through the sandbox, without a sender', () => {
    const times = { sentAt: NOW, deliveredAt: NOW, readAt: NOW };
    const decision = simulateDelivery(testSend(), NOW);
    expect(decision.result).toBe('read');
    expect(decision.change).toEqual({ ...DONE, status: 'read', channel: 'sandbox', ...times });
  });

  it('does not change a send that is already read', () => {
    const read = testSend({ status: 'read', phase: 'done' });
    expect(simulateDelivery(read, at(30))).toEqual({ result: 'done' });
  });
});
