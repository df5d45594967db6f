import type { Send } from '../../src/sends/send.js';
import { trafficEvents } from '../../src/health/traffic.js';
import { at, liveSend } from '../sends/sendFixtures.js';

describe('trafficEvents', () => {
  const PHASE_OF = {
    queued: 'ready',
    sending: 'calling',
    sent: 'unconfirmed',
    delivered: 'done',
    read: 'done',
    failed: 'done',
  } as const;
  const factsOf = (fields: Partial<Send>): Send =>
    liveSend({ phase: PHASE_OF[fields.status ?? 'queued'], ...fields });
  const changed = (before: Partial<Send>, after: Partial<Send>): string[] =>
    trafficEvents(factsOf(before), factsOf({ ...before, ...after })).map(({ event }) => event);

  it.each<[string, Partial<Send>, Partial<Send>, string[]]>([
    ['a claim', { status: 'queued' }, { status: 'sending' }, []],
    ['an acceptance', { status: 'sending' }, { status: 'sent' }, ['accepted']],
    [
      'a receipt before the answer',
      { status: 'sending' },
      { status: 'delivered' },
      ['accepted', 'delivered'],
    ],
    ['a delivery', { status: 'sent' }, { status: 'delivered' }, ['delivered']],
    ['a reading without a delivery', { status: 'sent' }, { status: 'read' }, ['delivered']],
    ['a reading', { status: 'delivered' }, { status: 'read' }, []],
    ['a failed message that is sent again', { status: 'sent' }, { phase: 'ready' }, []],
    [
      'the acceptance of a message that is sent again',
      { status: 'sent', phase: 'calling' },
      { phase: 'unconfirmed' },
      ['accepted'],
    ],
    ['a failure after acceptance', { status: 'sent' }, { status: 'failed' }, ['failed']],
    ['a failure before acceptance', { status: 'queued' }, { status: 'failed' }, ['failed']],
    ['a failure after the correct code', { verification: 'verified' }, { status: 'failed' }, []],
    ['a failure after five wrong codes', { verification: 'locked' }, { status: 'failed' }, []],
    ['a delivery time that arrives after the failure', { status: 'failed' }, { deliveredAt: at(1) }, []],
  ])('returns the events of %s', (_, before, after, expected) => {
    expect(changed(before, after)).toEqual(expected);
  });

  it.each([
    [{ status: 'delivered', deliveredAt: at(30) }, ''],
    [{ status: 'delivered', deliveredAt: at(30.001) }, 'late'],
    [{ status: 'read', readAt: at(30.001) }, 'late'],
    [{ status: 'read', deliveredAt: at(1), readAt: at(30.001) }, ''],
  ] as const)('marks a delivery as late after 30 seconds: %j', (after, reason) => {
    const before = liveSend({ status: 'sent' });
    expect(trafficEvents(before, { ...before, ...after })).toMatchObject([{ event: 'delivered', reason }]);
  });

  it('returns country, sender, account and reason, but no number', () => {
    const before = liveSend({ status: 'sent', senderId: 'sender-1', country: 'ZZ' });
    const after: Send = { ...before, status: 'failed', failureReason: 'rejected_by_provider' };
    expect(trafficEvents(before, after)).toEqual([
      {
        event: 'failed',
        country: 'ZZ',
        senderId: 'sender-1',
        accountId: before.accountId,
        reason: 'rejected_by_provider',
      },
    ]);
  });

  it('returns nothing for test sends', () => {
    const before = liveSend({ mode: 'test', status: 'queued' });
    expect(trafficEvents(before, { ...before, status: 'read' })).toEqual([]);
  });
});
