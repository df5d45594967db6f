import { buildSend, buildSender } from '@onecode/store/testing';
import { startTcpProxy } from '../../../test/harness/tcpProxy.js';
import { testRedisUrl } from '../../../test/harness/redisContents.js';
import { until } from '../../../test/harness/until.js';
import { useWorker } from './fixture.js';
import { House } from './house.js';
import { startWorker } from './worker.js';

const VALIDITY_SECONDS = 600;

describe('a code that has expired or is about to', () => {
  const t = useWorker();

  const oldSend = async (seconds: number): Promise<string> => {
    const id = await buildSend(t.house.db.database, t.caller);
    await t.house.age(id, seconds);
    return id;
  };

  it('is never sent: the send fails, and its unit goes back', async () => {
    const id = await oldSend(VALIDITY_SECONDS);
    await t.house.enqueue('live', id, 0);
    expect(await t.house.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
      attempts: 0,
    });
    expect(await t.house.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    expect(t.house.tap.requests).toEqual([]);
  });

  it('is not sent with too little life left to be typed, and fails once it is over', async () => {
    const id = await oldSend(VALIDITY_SECONDS - 29);
    const row = await t.house.until(id, ({ version }) => version > 0);
    expect(row).toMatchObject({ status: 'queued', attempts: 0, due_at: row.expires_at });
    await t.house.age(id, 29);
    await t.house.until(id, 'failed');
    expect(t.house.tap.requests).toEqual([]);
  });

  it('is not tried again then either', async () => {
    t.house.simulator.rules.add({ fault: { error: 131000, retryAfter: 60 }, times: 1 });
    const id = await t.house.send(t.caller);
    await t.house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await t.house.age(id, VALIDITY_SECONDS - 20);
    await t.house.until(id, (row) => row.due_at?.getTime() === row.expires_at.getTime());
    await t.house.age(id, 20);
    expect(await t.house.until(id, 'failed')).toMatchObject({ failure_reason: 'expired_before_delivery' });
    expect(await t.house.calls(id)).toHaveLength(1);
    expect(await t.house.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });

  it('ends its send on time, however long the provider asks to wait', async () => {
    t.house.simulator.rules.add({ fault: { error: 131000, retryAfter: 3_600 } });
    const id = await t.house.send(t.caller);
    const row = await t.house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    expect(row.due_at).toEqual(row.expires_at);
    await t.house.age(id, VALIDITY_SECONDS);
    expect(await t.house.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
    });
  });
});

describe('without Redis', () => {
  it('expired sends fail all the same, and the others keep their job for its return', async () => {
    const house = await House.open();
    const proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const worker = await startWorker(house, {
      env: { REDIS_URL: proxy.url },
      sweepPauseMs: null,
    });
    await buildSender(house.db.database);
    const caller = await house.caller('live', { credits: 1 });
    const expired = await buildSend(house.db.database, caller);
    const waiting = await buildSend(house.db.database, caller, { recipient: '+5511987650002' });
    await house.age(expired, VALIDITY_SECONDS + 5);
    await house.age(waiting, 5);
    const before = await house.row(waiting);

    await worker.sweep();
    expect(await house.row(expired)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
    });
    expect(await house.units(caller.accountId)).toMatchObject({ free_quota: 1, returned: ['free_quota'] });
    expect(await house.row(waiting)).toEqual(before);

    await proxy.open();
    await until('Redis', () => worker.context.deliveryQueue.isReady());
    await worker.sweep();
    await house.until(waiting, 'delivered');
    await worker.stop();
    await proxy.close();
    await house.close();
  });
});
