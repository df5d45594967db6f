import type { Send } from '../src/send.js';
import { trafficOf } from '../src/traffic.js';
import { liveSend } from './sendFixtures.js';

const changed = (before: Partial<Send>, after: Partial<Send>): string[] =>
  trafficOf(liveSend(before), liveSend({ ...before, ...after })).map(({ event }) => event);
const at = new Date('2026-11-23T12:00:00Z');

describe('trafficOf', () => {
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
    ['a loss', { status: 'sent' }, { lostAt: at }, []],
    ['an acceptance after a loss', { status: 'sent', lostAt: at }, { lostAt: null }, ['accepted']],
    ['a failure after acceptance', { status: 'sent' }, { status: 'failed' }, ['failed']],
    ['a failure before', { status: 'queued' }, { status: 'failed' }, ['failed']],
    ['a late time of a failed send', { status: 'failed' }, { deliveredAt: at }, []],
  ])('of %s', (_, before, after, expected) => {
    expect(changed(before, after)).toEqual(expected);
  });

  it('names country, sender and reason, and never a number', () => {
    const before = liveSend({ status: 'sent', senderId: 'sender-1', country: null });
    const after: Send = { ...before, status: 'failed', failureReason: 'rejected_by_provider' };
    expect(trafficOf(before, after)).toEqual([
      { event: 'failed', country: 'ZZ', senderId: 'sender-1', reason: 'rejected_by_provider' },
    ]);
  });

  it('leaves test sends out', () => {
    const before = liveSend({ mode: 'test', status: 'queued' });
    expect(trafficOf(before, { ...before, status: 'read' })).toEqual([]);
  });
});
