import { buildSend, buildSender, startTcpProxy, testRedisUrl, until } from '@onecode/testing';
import { startWorker, useWorker } from './testWorker.js';
import { WorkerEnvironment } from './workerEnvironment.js';

const VALIDITY_SECONDS = 600;

describe('a code that has expired or soon will', () => {
  const t = useWorker();

  const oldSend = async (seconds: number): Promise<string> => {
    const id = await buildSend(t.environment.db.database, t.caller);
    await t.environment.age(id, seconds);
    return id;
  };

  it('is never sent: the send fails, and its unit is refunded', async () => {
    const id = await oldSend(VALIDITY_SECONDS);
    await t.environment.enqueue('live', id, 0);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
      attempts: 0,
    });
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('is not sent with too little time left to type it, and its send fails when it expires', async () => {
    const id = await oldSend(VALIDITY_SECONDS - 29);
    const row = await t.environment.until(id, ({ version }) => version > 0);
    expect(row).toMatchObject({ status: 'queued', attempts: 0, due_at: row.expires_at });
    await t.environment.age(id, 29);
    await t.environment.until(id, 'failed');
    expect(t.environment.tap.requests).toEqual([]);
  });

  it('is not sent again with so little time left', async () => {
    t.environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 60 }, times: 1 });
    const id = await t.environment.send(t.caller);
    await t.environment.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await t.environment.age(id, VALIDITY_SECONDS - 20);
    await t.environment.until(id, (row) => row.due_at?.getTime() === row.expires_at.getTime());
    await t.environment.age(id, 20);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
    });
    expect(await t.environment.calls(id)).toHaveLength(1);
    expect(await t.environment.units(t.caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
  });

  it('fails its send on time, however long the provider asks to wait', async () => {
    t.environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 3_600 } });
    const id = await t.environment.send(t.caller);
    const row = await t.environment.until(
      id,
      ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null,
    );
    expect(row.due_at).toEqual(row.expires_at);
    await t.environment.age(id, VALIDITY_SECONDS);
    expect(await t.environment.until(id, 'failed')).toMatchObject({
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
    });
  });
});

describe('without Redis', () => {
  it('expired sends still fail, and the others stay due until it returns', async () => {
    const environment = await WorkerEnvironment.open();
    const proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const worker = await startWorker(environment, {
      env: { REDIS_URL: proxy.url },
      sweepPauseMs: null,
    });
    await buildSender(environment.db.database);
    const caller = await environment.caller('live', { credits: 1 });
    const expired = await buildSend(environment.db.database, caller);
    const waiting = await buildSend(environment.db.database, caller, { recipient: '+5511987650002' });
    await environment.age(expired, VALIDITY_SECONDS + 5);
    await environment.age(waiting, 5);
    const before = await environment.row(waiting);

    await worker.sweep();
    expect(await environment.row(expired)).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_before_delivery',
      sealed_code: null,
    });
    expect(await environment.units(caller.accountId)).toMatchObject({
      free_quota: 1,
      returned: ['free_quota'],
    });
    expect(await environment.row(waiting)).toEqual(before);

    await proxy.open();
    await until('Redis', () => worker.context.deliveryQueue.isReady());
    await worker.sweep();
    await environment.until(waiting, 'delivered');
    await worker.stop();
    await proxy.close();
    await environment.close();
  });
});
