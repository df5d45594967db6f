import { claim, settle, type Outcome, type Send } from '@onecode/domain';
import {
  ACCEPTED,
  at,
  CONFIG_FAULT,
  FAILED,
  LIFE_SECONDS,
  liveSend,
  ms,
  NOW,
  offer,
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

describe('the outcome of an attempt', () => {
  const settled = (send: Send, outcome: Outcome, random = 0) =>
    settle(send, NOW, 'attempt-1', outcome, POLICY, random);

  it('accepted: sent, with the code until it ends', () => {
    const { sealedCode } = sendingSend();
    expect(settled(sendingSend(), ACCEPTED)).toEqual({
      result: { kind: 'accepted' },
      change: {
        attemptId: null,
        status: 'sent',
        sentAt: NOW,
        lostAt: null,
        awaitingSender: false,
        sealedCode,
        dueAt: null,
      },
      attempts: [
        {
          id: 'attempt-1',
          senderId: 'sender-1',
          outcome: 'accepted',
          errorCode: null,
          messageId: 'wamid.1',
        },
      ],
    });
  });

  it('retry: stays sending with the code, due after the back-off, certain', () => {
    const decision = settled(sendingSend({ attempts: 3 }), retryable(), 0.5);
    expect(decision.result).toEqual({ kind: 'retry', delayMs: 5000 });
    expect(decision.change).toEqual({ attemptId: null, receiptUntil: null, dueAt: ms(NOW, 5000) });
    expect(decision.attempts).toEqual([
      { id: 'attempt-1', senderId: 'sender-1', outcome: 'retry', errorCode: 131000, messageId: null },
    ]);
  });

  it('unknown: as retry, but the message may have gone', () => {
    const decision = settled(sendingSend(), UNKNOWN);
    expect(decision.result).toEqual({ kind: 'retry', delayMs: 1000 });
    expect(decision.change).toEqual({
      attemptId: null,
      receiptUntil: ms(NOW, 32_000),
      dueAt: ms(NOW, 1000),
    });
    expect(decision.attempts).toMatchObject([{ id: 'attempt-1', outcome: 'unknown' }]);
  });

  it.each([
    ['sender', SENDER_FAULT],
    ['config', CONFIG_FAULT],
    ['retry', retryable({ throttled: 'recipient_window' })],
    ['retry', retryable({ throttled: 'sender' })],
    ['retry', retryable({ throttled: 'business' })],
    ['retry', retryable({ throttled: 'app' })],
  ])('%s: reassigned at once, without using up the attempt', (kind, outcome) => {
    const send = sendingSend({ attempts: 5 });
    const decision = settled(send, outcome);
    expect(decision.result).toEqual({ kind: 'reassign' });
    const after = written(send, decision);
    expect(after).toMatchObject({ status: 'sending', attempts: 4, attemptId: null, dueAt: NOW });
    expect(decision.attempts).toMatchObject([{ outcome: kind }]);
    expect(claim(after, NOW, offer()).result).toEqual({ kind: 'claimed', attempt: 5 });
  });

  it.each([
    ['recipient', RECIPIENT_FAULT],
    ['config, of this request only', REQUEST_FAULT],
  ])('%s: failed with rejected_by_provider', (_, outcome) => {
    const decision = settled(sendingSend(), outcome);
    expect(decision.result).toEqual({ kind: 'failed', reason: 'rejected_by_provider' });
    expect(decision.change).toEqual({ ...FAILED, failureReason: 'rejected_by_provider' });
    expect(decision.attempts).toHaveLength(1);
  });

  it('retry on the last attempt: failed with attempts_exhausted', () => {
    const decision = settled(sendingSend({ attempts: 5 }), retryable());
    expect(decision.result).toEqual({ kind: 'failed', reason: 'attempts_exhausted' });
    expect(decision.change).toEqual({ ...FAILED, failureReason: 'attempts_exhausted' });
  });

  it.each([
    ['unknown itself', UNKNOWN, null, ms(NOW, 32_000)],
    ['retry after an unknown one', retryable(), ms(NOW, 7_000), ms(NOW, 7_000)],
  ])('on the last attempt, %s: waits for a receipt', (_, outcome, before, receiptUntil) => {
    const decision = settled(sendingSend({ attempts: 5, receiptUntil: before }), outcome);
    expect(decision.result).toEqual({ kind: 'awaiting_receipt' });
    expect(decision.change).toEqual({ attemptId: null, receiptUntil, dueAt: receiptUntil });
  });

  it('on the last attempt, retry after an unknown one whose receipt had its time: failed at once', () => {
    const decision = settled(sendingSend({ attempts: 5, receiptUntil: NOW }), retryable());
    expect(decision.result).toEqual({ kind: 'failed', reason: 'attempts_exhausted' });
  });

  describe('of a send whose code was settled meanwhile', () => {
    const code = { verification: 'verified', verifiedAt: at(10) } as const;

    it('that may be retried: failed at once, for nothing went', () => {
      const decision = settled(sendingSend(code), retryable());
      expect(decision.result).toEqual({ kind: 'failed', reason: 'expired_before_delivery' });
    });

    it('that is unknown: waits for a receipt', () => {
      const decision = settled(sendingSend(code), UNKNOWN);
      expect(decision.result).toEqual({ kind: 'awaiting_receipt' });
      expect(decision.change).toMatchObject({ dueAt: ms(NOW, 32_000), receiptUntil: ms(NOW, 32_000) });
    });

    it('that is a fault of the sender: the next claim fails it', () => {
      const after = written(sendingSend(code), settled(sendingSend(code), SENDER_FAULT));
      expect(claim(after, NOW, offer()).result).toMatchObject({ kind: 'failed' });
    });

    it('that was accepted: sent, code erased, nothing due', () => {
      const decision = settled(sendingSend(code), ACCEPTED);
      expect(decision.result).toEqual({ kind: 'accepted' });
      expect(decision.change).toMatchObject({ status: 'sent', sealedCode: null, dueAt: null });
    });
  });

  it('after the deadline makes the send due at once', () => {
    const late = at(LIFE_SECONDS + 5);
    const decision = settle(sendingSend(), late, 'attempt-1', retryable(), POLICY, 0);
    expect(decision.result).toEqual({ kind: 'retry', delayMs: 0 });
    expect(decision.change).toMatchObject({ dueAt: late });
  });

  it('of a worker without the claim changes nothing', () => {
    for (const outcome of [ACCEPTED, UNKNOWN, retryable(), RECIPIENT_FAULT, SENDER_FAULT])
      for (const send of [sendingSend({ attemptId: 'attempt-2' }), sentSend(), liveSend()])
        expect(settled(send, outcome)).toEqual({ result: { kind: 'stale' } });
  });

  it('still counts after the lease has ended, as long as no other worker has taken over', () => {
    expect(settle(sendingSend(), at(500), 'attempt-1', ACCEPTED, POLICY, 0).result.kind).toBe('accepted');
  });

  it('never makes a send wait beyond its deadline, even if the provider asks for more time', () => {
    const decision = settled(sendingSend(), retryable({ retryAfterSeconds: 900 }));
    const after = written(sendingSend(), decision);
    expect(after.dueAt).toEqual(at(LIFE_SECONDS));
    expect(decision.result).toEqual({ kind: 'retry', delayMs: (LIFE_SECONDS - 20) * 1000 });
    expect(claim(after, at(LIFE_SECONDS), offer()).result).toEqual({
      kind: 'failed',
      reason: 'expired_before_delivery',
    });
  });

  describe('after a receipt that was faster', () => {
    const delivered = () =>
      sendingSend({ status: 'delivered', sealedCode: null, dueAt: null, deliveredAt: at(10) });

    it('ends the claim and fills in when it was sent, not after it was delivered', () => {
      const decision = settled(delivered(), ACCEPTED);
      expect(decision.result).toEqual({ kind: 'accepted' });
      expect(decision.change).toEqual({ attemptId: null, sentAt: at(10) });
      expect(decision.attempts).toMatchObject([{ outcome: 'accepted', messageId: 'wamid.1' }]);
    });

    it('is not after it was read either', () => {
      const read = { ...delivered(), status: 'read', deliveredAt: null, readAt: at(12) } as const;
      expect(settled(read, ACCEPTED).change).toEqual({ attemptId: null, sentAt: at(12) });
    });

    it('keeps the time that a receipt gave', () => {
      const sent = { ...delivered(), status: 'sent', deliveredAt: null, sentAt: at(9) } as const;
      expect(settled(sent, ACCEPTED).change).toEqual({ attemptId: null });
    });

    it.each([UNKNOWN, retryable(), RECIPIENT_FAULT, SENDER_FAULT, CONFIG_FAULT])(
      'changes neither state nor attempt when the answer was $kind',
      (outcome) => {
        const decision = settled(delivered(), outcome);
        expect(written(delivered(), decision)).toMatchObject({ status: 'delivered', dueAt: null });
        expect(decision.attempts).toEqual([]);
      },
    );
  });
});
