import { buildSend, buildSender, type TestCaller } from '@onecode/store/testing';
import { deleteKeys, keysOf, testRedisUrl } from '../../../test/harness/redisContents.js';
import { startTcpProxy, type TcpProxy } from '../../../test/harness/tcpProxy.js';
import { until } from '../../../test/harness/until.js';
import { cleanUp } from '../src/sweeper.js';
import { House } from './house.js';
import { startWorker, type TestWorker } from './worker.js';

describe('after Redis was flushed', () => {
  let house: House;
  let caller: TestCaller;
  const workers: TestWorker[] = [];
  beforeAll(async () => {
    house = await House.open();
  });
  beforeEach(async () => {
    await house.clear();
    await buildSender(house.db.database);
    caller = await house.caller();
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop();
  });
  afterAll(() => house.close());

  const flush = (): Promise<void> => deleteKeys(house.redis, house.prefix);
  const work = async (): Promise<TestWorker> => {
    const worker = await startWorker(house);
    workers.push(worker);
    return worker;
  };

  it('sends that waited in the queue are enqueued again', async () => {
    const live = await house.send(caller);
    const test = await house.send(await house.caller('test'));
    expect(await keysOf(house.redis, house.prefix)).not.toEqual([]);
    await flush();
    await work();
    await house.until(live, 'delivered');
    await house.until(test, 'read');
    expect(await house.calls(live)).toHaveLength(1);
  });

  it('sends that waited for a retry are enqueued again', async () => {
    await work();
    house.simulator.rules.add({ fault: { error: 131000, retryAfter: 1 }, times: 1 });
    const id = await house.send(caller);
    await house.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await flush();
    expect(await house.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('an attempt that was under way ends as if nothing had happened', async () => {
    await work();
    house.simulator.rules.add({ fault: { latencyMs: 300 } });
    const id = await house.send(caller);
    await until('a call', async () => (await house.calls(id)).length === 1);
    await flush();
    await house.until(id, 'delivered');
    expect(await house.calls(id)).toHaveLength(1);
    const next = await house.send(await house.caller(), { recipient: '+5511987650002' });
    await house.until(next, 'delivered');
  });

  it('receipts that were enqueued are applied', async () => {
    house.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const first = await work();
    const id = await house.send(caller);
    await house.until(id, 'sent');
    await first.stop();
    workers.length = 0;
    const [message] = house.simulator.messages();
    await house.simulator.postReceipt({ messageId: message!.id, status: 'delivered' });
    await flush();
    await work();
    await house.until(id, 'delivered');
  });
});

describe('a sweep', () => {
  it('enqueues a send once, however many sweep at once', async () => {
    const house = await House.open();
    const worker = await startWorker(house, { sweepPauseMs: null });
    const caller = await house.caller();
    const id = await buildSend(house.db.database, caller);
    await house.age(id, 60);
    await Promise.all([worker.sweep(), worker.sweep(), worker.sweep()]);
    expect(await worker.count('onecode_sweeper_enqueues_total', { queue: 'deliver' })).toBe(1);
    await worker.stop();
    await house.close();
  });
});

describe('cleaning up', () => {
  it('deletes receipts that were dealt with more than eight days ago, and no others', async () => {
    const house = await House.open();
    const { database } = house.db;
    await house.db.sql(
      `insert into receipts (message_id, status, occurred_at, received_at, due_at, result) values
         ('old', 'sent', now(), now() - interval '9 days', null, 'applied'),
         ('old but open', 'sent', now(), now() - interval '9 days', now(), null),
         ('young', 'sent', now(), now() - interval '7 days', null, 'ignored')`,
    );
    await cleanUp({ database });
    const left = await house.db.sql('select message_id from receipts order by id');
    expect(left).toEqual([{ message_id: 'old but open' }, { message_id: 'young' }]);
    await house.close();
  });
});

describe('a Redis that freezes and comes back', () => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await startTcpProxy(testRedisUrl());
  });
  afterAll(() => proxy.close());

  it('costs time and nothing else', async () => {
    const house = await House.open();
    const worker = await startWorker(house, { env: { REDIS_URL: proxy.url } });
    await buildSender(house.db.database);
    const caller = await house.caller('live', { credits: 5 });
    await house.until(await house.send(caller), 'delivered');
    proxy.freeze();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await house.send(caller, { recipient: `+551198765003${n}` }));
    await worker.sweep();
    // What was held up is lost.
    proxy.cut();
    await proxy.open();
    for (const id of ids) await house.until(id, 'delivered');
    expect(house.tap.requests).toHaveLength(4);
    await worker.stop();
    await house.close();
  });
});
