import { claim, releaseClaim, isWorthSending, settle } from '@onecode/domain';
import {
  at,
  CREATED_AT,
  FAILED,
  LEASE_MS,
  LIFE_SECONDS,
  liveSend,
  ms,
  NOW,
  offer,
  POLICY,
  sendingSend,
  sentSend,
  slot,
  UNKNOWN,
  written,
} from './sendFixtures.js';

const noSlot = { slot: null };

describe('whether a send is still worth sending', () => {
  it.each([
    ['30 seconds of a long life', 600, 570],
    ['30 seconds of the longest life', 5400, 5370],
    ['a tenth of a short life', 60, 54],
    ['a tenth of the shortest life', 1, 0.9],
  ])('ends with %s left', (_, life, last) => {
    const send = { createdAt: CREATED_AT, expiresAt: at(life) };
    expect(isWorthSending(send, ms(at(last), -1))).toBe(true);
    expect(isWorthSending(send, at(last))).toBe(false);
    expect(isWorthSending(send, at(life))).toBe(false);
  });
});

describe('a claim', () => {
  it('routes a queued send: channel, sender, attempt and lease', () => {
    const decision = claim(liveSend(), NOW, offer({ slot: slot({ id: 's', number: '+15550001' }) }));
    expect(decision).toEqual({
      result: { kind: 'claimed', attempt: 1 },
      change: {
        status: 'sending',
        channel: 'whatsapp',
        from: '+15550001',
        senderId: 's',
        attempts: 1,
        attemptId: 'attempt-new',
        receiptUntil: null,
        awaitingSender: false,
        dueAt: ms(NOW, LEASE_MS),
      },
      attempts: [{ id: 'attempt-new', senderId: 's', outcome: null, errorCode: null, messageId: null }],
    });
  });

  it('may change the sender of a send that waited for its retry', () => {
    const waiting = sendingSend({ attemptId: null, attempts: 2 });
    const after = written(
      waiting,
      claim(waiting, NOW, offer({ slot: slot({ id: 's2', number: '+15550002' }) })),
    );
    expect(after).toMatchObject({ status: 'sending', attempts: 3, senderId: 's2', from: '+15550002' });
  });

  it('waits while another worker holds the lease, to the millisecond', () => {
    const send = sendingSend();
    expect(claim(send, at(14.999), offer())).toEqual({ result: { kind: 'not_due', waitMs: 1 } });
    expect(claim(send, at(15), offer()).result).toEqual({ kind: 'claimed', attempt: 2 });
  });

  it('takes an attempt over whose lease has ended, and calls its outcome unknown', () => {
    const decision = claim(sendingSend(), NOW, offer());
    expect(decision.change).toMatchObject({
      attemptId: 'attempt-new',
      attempts: 2,
      receiptUntil: ms(NOW, 32_000),
    });
    expect(decision.attempts).toEqual([
      { id: 'attempt-1', senderId: 'sender-1', outcome: 'unknown', errorCode: null, messageId: null },
      { id: 'attempt-new', senderId: 'sender-1', outcome: null, errorCode: null, messageId: null },
    ]);
  });

  it('remembers until when a receipt of an earlier attempt may come', () => {
    const send = sendingSend({ attemptId: null, receiptUntil: at(40) });
    expect(claim(send, NOW, offer()).change).toMatchObject({ receiptUntil: at(40) });
  });

  it.each(['sent', 'delivered', 'read', 'failed'] as const)(
    'leaves a send with the status %s unchanged',
    (status) => {
      expect(claim(sentSend({ status }), NOW, offer())).toEqual({ result: { kind: 'settled' } });
    },
  );

  it('without a sender waits in its status until the deadline, uses no attempt, and can be woken', () => {
    const decision = claim(liveSend(), NOW, offer(noSlot));
    expect(decision.result).toEqual({ kind: 'no_sender' });
    const after = written(liveSend(), decision);
    expect(after).toMatchObject({
      status: 'queued',
      channel: null,
      attempts: 0,
      awaitingSender: true,
      dueAt: at(LIFE_SECONDS),
    });
    const woken = { ...after, awaitingSender: false, dueAt: NOW };
    expect(claim(woken, NOW, offer()).result).toEqual({ kind: 'claimed', attempt: 1 });
  });

  it('without a sender keeps a send that was routed before as sending', () => {
    const send = sendingSend({ attemptId: null, dueAt: NOW });
    expect(written(send, claim(send, NOW, offer(noSlot)))).toMatchObject({
      status: 'sending',
      awaitingSender: true,
    });
  });

  it.each([{}, noSlot])('with too little time left waits for the deadline, not for a sender: %j', (slots) => {
    const decision = claim(liveSend(), at(570), offer(slots));
    expect(decision.result).toEqual({ kind: 'settled' });
    const waiting = { status: 'queued', awaitingSender: false, dueAt: at(LIFE_SECONDS) };
    expect(written(liveSend(), decision)).toMatchObject(waiting);
  });

  it('at the deadline fails a queued send with expired_before_delivery', () => {
    const failedAt = at(LIFE_SECONDS);
    const decision = claim(liveSend(), failedAt, offer());
    expect(decision.result).toEqual({ kind: 'failed', reason: 'expired_before_delivery' });
    expect(decision.change).toEqual({ ...FAILED, failedAt, failureReason: 'expired_before_delivery' });
  });

  it('a millisecond before the deadline does not fail it yet', () => {
    expect(claim(liveSend(), ms(at(LIFE_SECONDS), -1), offer()).result.kind).toBe('settled');
  });

  it('after the last attempt and its wait fails with attempts_exhausted', () => {
    const send = sendingSend({ attempts: 5, attemptId: null, receiptUntil: NOW });
    const decision = claim(send, NOW, offer());
    expect(decision.result).toEqual({ kind: 'failed', reason: 'attempts_exhausted' });
    expect(decision.change).toEqual({ ...FAILED, failureReason: 'attempts_exhausted' });
  });

  it('gives the last attempt’s receipt time when its lease ended without an answer', () => {
    const send = sendingSend({ attempts: 5 });
    const decision = claim(send, NOW, offer());
    expect(decision.result).toEqual({ kind: 'settled' });
    const after = written(send, decision);
    expect(after).toMatchObject({
      status: 'sending',
      attemptId: null,
      receiptUntil: ms(NOW, 32_000),
      dueAt: ms(NOW, 32_000),
    });
    expect(decision.attempts).toMatchObject([{ id: 'attempt-1', outcome: 'unknown' }]);
    expect(claim(after, ms(NOW, 32_000), offer()).result).toEqual({
      kind: 'failed',
      reason: 'attempts_exhausted',
    });
  });
});

const SETTLED_CODES = [
  ['verified', { verification: 'verified', verifiedAt: at(10) }],
  ['locked', { verification: 'locked', wrongGuesses: 5, lockedAt: at(10) }],
] as const;

describe.each(SETTLED_CODES)('a claim of a send whose code is %s', (_, code) => {
  const reason = 'expired_before_delivery';

  it.each([
    ['that waits for a worker', liveSend(code)],
    ['that waits for its next attempt', sendingSend({ ...code, attemptId: null, attempts: 3, dueAt: NOW })],
    ['that may have gone, and no receipt came', sendingSend({ ...code, attemptId: null, receiptUntil: NOW })],
  ])('fails one %s, without a call, though a slot is there', (__, send) => {
    const decision = claim(send, NOW, offer());
    expect(decision.result).toEqual({ kind: 'failed', reason });
    expect(decision.change).toEqual({ ...FAILED, failureReason: reason });
    expect(decision.attempts).toEqual([]);
  });

  it('waits for the receipt of an attempt whose lease has ended', () => {
    const send = sendingSend(code);
    const waiting = written(send, claim(send, NOW, offer()));
    expect(waiting).toMatchObject({ status: 'sending', attemptId: null, dueAt: ms(NOW, 32_000) });
    expect(claim(waiting, ms(NOW, 32_000), offer()).result).toEqual({ kind: 'failed', reason });
  });

  it('leaves a call under way unchanged', () => {
    expect(claim(sendingSend(code), at(14.999), offer()).result).toEqual({ kind: 'not_due', waitMs: 1 });
  });

  it('leaves an accepted message unchanged', () => {
    expect(claim(sentSend(code), NOW, offer())).toEqual({ result: { kind: 'settled' } });
  });
});

describe('a claim for a future send slot', () => {
  it('holds until its lease ends, counted from the slot', () => {
    const decision = claim(liveSend(), NOW, offer({ slot: slot({}, 700) }));
    expect(decision.change).toMatchObject({ attemptId: 'attempt-new', dueAt: ms(NOW, LEASE_MS + 700) });
  });

  it('fails when too little time will be left then: the send waits for its deadline', () => {
    const now = ms(at(570), -500);
    expect(claim(liveSend(), now, offer({ slot: slot({}, 499) })).result.kind).toBe('claimed');
    const decision = claim(liveSend(), now, offer({ slot: slot({}, 500) }));
    expect(decision.result).toEqual({ kind: 'settled' });
    expect(written(liveSend(), decision)).toMatchObject({
      status: 'queued',
      attempts: 0,
      awaitingSender: false,
      dueAt: at(LIFE_SECONDS),
    });
  });
});

describe('a send that is released before its message was written', () => {
  it('is due now, as if there had been no attempt', () => {
    const send = sendingSend({ attempts: 3, receiptUntil: at(40) });
    const decision = releaseClaim(send, NOW, 'attempt-1');
    expect(decision.result).toBe('released');
    const after = written(send, decision);
    expect(after).toEqual({ ...send, attempts: 2, attemptId: null, dueAt: NOW });
    expect(decision.attempts).toEqual([
      { id: 'attempt-1', senderId: 'sender-1', outcome: 'retry', errorCode: null, messageId: null },
    ]);
    expect(claim(after, NOW, offer()).result).toEqual({ kind: 'claimed', attempt: 3 });
  });

  it('is unchanged when another worker has claimed it', () => {
    expect(releaseClaim(sendingSend({ attemptId: 'another' }), NOW, 'attempt-1')).toEqual({
      result: 'stale',
    });
  });

  it('is not due again when there was a receipt of an earlier attempt', () => {
    const send = sentSend({ status: 'delivered', attemptId: 'attempt-1', attempts: 2 });
    expect(written(send, releaseClaim(send, NOW, 'attempt-1'))).toEqual({
      ...send,
      attemptId: null,
      attempts: 1,
    });
  });
});

describe('the deadline of a send whose message may have gone', () => {
  it('gives a receipt time when the lease ends with it', () => {
    const send = sendingSend({ dueAt: at(LIFE_SECONDS) });
    const waiting = written(send, claim(send, at(LIFE_SECONDS), offer()));
    expect(waiting).toMatchObject({ status: 'sending', dueAt: at(LIFE_SECONDS + 32) });
    expect(claim(waiting, at(LIFE_SECONDS + 32), offer()).result).toEqual({
      kind: 'failed',
      reason: 'expired_before_delivery',
    });
  });

  it('gives what is left of that time when an attempt became unknown shortly before', () => {
    const send = sendingSend({
      attemptId: null,
      receiptUntil: at(LIFE_SECONDS + 10),
      dueAt: at(LIFE_SECONDS),
    });
    const waiting = written(send, claim(send, at(LIFE_SECONDS), offer()));
    expect(waiting).toMatchObject({ status: 'sending', dueAt: at(LIFE_SECONDS + 10) });
    expect(claim(waiting, at(LIFE_SECONDS + 10), offer()).result).toMatchObject({ kind: 'failed' });
  });

  it('gives no more when the receipt has had its time', () => {
    const send = sendingSend({ attemptId: null, receiptUntil: at(LIFE_SECONDS), dueAt: at(590) });
    expect(claim(send, at(LIFE_SECONDS), offer()).result).toEqual({
      kind: 'failed',
      reason: 'expired_before_delivery',
    });
  });

  it.each([
    ['too little life is left', {}, at(590)],
    ['no sender is there', noSlot, at(500)],
  ])('is waited for when %s for another attempt', (_, slots, now) => {
    const send = sendingSend({ attemptId: null, receiptUntil: at(595), dueAt: now });
    expect(claim(send, now, offer(slots)).change).toMatchObject({
      dueAt: at(LIFE_SECONDS),
      receiptUntil: at(595),
    });
  });

  it('gives a receipt time when the last call ends just before it', () => {
    const send = sendingSend({ dueAt: at(610) });
    const waiting = written(send, settle(send, at(599.5), 'attempt-1', UNKNOWN, POLICY, 0));
    expect(waiting.dueAt).toEqual(at(LIFE_SECONDS));
    expect(written(waiting, claim(waiting, at(LIFE_SECONDS), offer()))).toMatchObject({
      status: 'sending',
      dueAt: at(631.5),
    });
  });
});
