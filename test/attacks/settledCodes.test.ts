import { ProcessStack, until } from '@onecode/testing';

const CODE = '042913';

describe('codes that are verified or locked before their message is sent', () => {
  let stack: ProcessStack;
  let accountId: string;
  let key: string;
  beforeAll(async () => {
    stack = await ProcessStack.start({ workers: 0 });
    const account = await stack.onecode('account create --name A --free-quota 3');
    accountId = String(account['id']);
    key = await stack.makeKey(accountId, 'live');
    await stack.addSender();
  });
  afterAll(() => stack.stop());

  it('are neither sent nor charged, while open ones are', async () => {
    const make = (n: number) => stack.create(key, { to: `+551198765000${n}`, code: CODE });
    const [verified, locked, open] = [await make(1), await make(2), await make(3)];
    expect(await stack.verify(key, verified.id, CODE)).toMatchObject({ valid: true });
    for (let n = 0; n < 5; n++) await stack.verify(key, locked.id, '000000');

    await stack.startWorker();
    await stack.untilStatus(key, open.id, 'delivered');
    const ends = await until('the ends of the settled ones', async () => {
      const views = [await stack.status(key, verified.id), await stack.status(key, locked.id)];
      return views.every(({ status }) => status !== 'queued' && status !== 'sending') && views;
    });

    expect(ends).toMatchObject([
      {
        status: 'failed',
        failure_reason: 'expired_before_delivery',
        verification: 'verified',
        sent_at: null,
      },
      { status: 'failed', failure_reason: 'expired_before_delivery', verification: 'locked', sent_at: null },
    ]);
    expect((await stack.simulator.messages()).map(({ to }) => to)).toEqual(['+5511987650003']);
    expect(await stack.onecode(`account show ${accountId}`)).toMatchObject({ free_quota: 2 });
  });
});
