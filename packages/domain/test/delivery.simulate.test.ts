import { simulate } from '@onecode/domain';
import { at, NOW, testSend, written } from './sendFixtures.js';

describe('a test send', () => {
  it('is read at once, through the sandbox, without a sender', () => {
    const after = written(testSend(), simulate(testSend(), NOW));
    expect(after).toEqual(
      testSend({
        status: 'read',
        channel: 'sandbox',
        from: null,
        sentAt: NOW,
        deliveredAt: NOW,
        readAt: NOW,
        dueAt: null,
      }),
    );
    expect(simulate(testSend(), NOW).result).toBe('read');
  });

  it('is simulated once', () => {
    const after = written(testSend(), simulate(testSend(), NOW));
    expect(simulate(after, at(30))).toEqual({ result: 'settled' });
  });

  it('keeps its code state', () => {
    const verified = testSend({ verification: 'verified', verifiedAt: at(1) });
    expect(written(verified, simulate(verified, NOW))).toMatchObject({
      status: 'read',
      verification: 'verified',
    });
  });
});
