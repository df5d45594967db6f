import {
  buildSend,
  buildSender,
  deleteKeys,
  keysOf,
  refuseRequests,
  startTcpProxy,
  testRedisUrl,
  until,
  type TcpProxy,
  type TestCaller,
} from '@onecode/testing';
import { cleanUp } from '../src/sweeper.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { startWorker, type TestWorker } from './testWorker.js';

describe('after Redis was flushed', () => {
  let environment: WorkerEnvironment;
  let caller: TestCaller;
  const workers: TestWorker[] = [];
  beforeAll(async () => {
    environment = await WorkerEnvironment.open();
  });
  beforeEach(async () => {
    await environment.reset();
    await buildSender(environment.db.database);
    caller = await environment.caller();
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop();
  });
  afterAll(() => environment.close());

  const flush = (): Promise<void> => deleteKeys(environment.redis, environment.prefix);
  const work = async (): Promise<TestWorker> => {
    const worker = await startWorker(environment);
    workers.push(worker);
    return worker;
  };

  it('sends that waited in the queue are enqueued again', async () => {
    const live = await environment.send(caller);
    const test = await environment.send(await environment.caller('test'));
    expect(await keysOf(environment.redis, environment.prefix)).not.toEqual([]);
    await flush();
    await work();
    await environment.until(live, 'delivered');
    await environment.until(test, 'read');
    expect(await environment.calls(live)).toHaveLength(1);
  });

  it('sends that waited for a retry are enqueued again', async () => {
    await work();
    environment.simulator.rules.add({ fault: { error: 131000, retryAfter: 1 }, times: 1 });
    const id = await environment.send(caller);
    await environment.until(id, ({ attempts, attempt_id }) => attempts === 1 && attempt_id === null);
    await flush();
    expect(await environment.until(id, 'delivered')).toMatchObject({ attempts: 2 });
  });

  it('an attempt under way ends as usual', async () => {
    await work();
    environment.simulator.rules.add({ fault: { latencyMs: 300 } });
    const id = await environment.send(caller);
    await until('a call', async () => (await environment.calls(id)).length === 1);
    await flush();
    await environment.until(id, 'delivered');
    expect(await environment.calls(id)).toHaveLength(1);
    const next = await environment.send(await environment.caller(), { recipient: '+5511987650002' });
    await environment.until(next, 'delivered');
  });

  it('enqueued receipts are applied', async () => {
    environment.simulator.rules.add({ fault: { acceptThenDrop: true } });
    const first = await work();
    const id = await environment.send(caller);
    await environment.until(id, 'sent');
    await first.stop();
    workers.length = 0;
    const [message] = environment.simulator.messages();
    await environment.simulator.postReceipt({ messageId: message!.id, status: 'delivered' });
    await flush();
    await work();
    await environment.until(id, 'delivered');
  });
});

describe('a sweep', () => {
  it('enqueues a send once, however many sweeps run at once', async () => {
    const environment = await WorkerEnvironment.open();
    const worker = await startWorker(environment, { sweepPauseMs: null });
    const caller = await environment.caller();
    const id = await buildSend(environment.db.database, caller);
    await environment.age(id, 60);
    await Promise.all([worker.sweep(), worker.sweep(), worker.sweep()]);
    expect(await worker.count('onecode_sweeper_enqueues_total', { queue: 'deliver' })).toBe(1);
    await worker.stop();
    await environment.close();
  });
});

describe('cleaning up', () => {
  it('deletes receipts that were settled more than eight days ago, and no others', async () => {
    const environment = await WorkerEnvironment.open();
    const { database } = environment.db;
    await environment.db.sql(
      `insert into receipts (message_id, status, occurred_at, received_at, due_at, result) values
         ('old', 'sent', now(), now() - interval '9 days', null, 'applied'),
         ('old but open', 'sent', now(), now() - interval '9 days', now(), null),
         ('young', 'sent', now(), now() - interval '7 days', null, 'ignored')`,
    );
    await cleanUp({ database });
    const left = await environment.db.sql('select message_id from receipts order by id');
    expect(left).toEqual([{ message_id: 'old but open' }, { message_id: 'young' }]);
    await environment.close();
  });

  it('deletes refused requests after fourteen days', async () => {
    const environment = await WorkerEnvironment.open();
    const { database } = environment.db;
    const refused = await environment.caller();
    const dayMs = 86_400_000;
    await refuseRequests(database, refused, 'invalid_json', [{ ageMs: 15 * dayMs }]);
    await refuseRequests(database, refused, 'rate_limited', [{ ageMs: 13 * dayMs }]);
    await cleanUp({ database });
    expect(await environment.db.sql('select code from refused_requests')).toEqual([{ code: 'rate_limited' }]);
    await environment.close();
  });
});

describe('a Redis that freezes and recovers', () => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await startTcpProxy(testRedisUrl());
  });
  afterAll(() => proxy.close());

  it('only delays sends, and counts none as enqueued meanwhile', async () => {
    const environment = await WorkerEnvironment.open();
    const worker = await startWorker(environment, { env: { REDIS_URL: proxy.url } });
    await buildSender(environment.db.database);
    const caller = await environment.caller('live', { credits: 5 });
    await environment.until(await environment.send(caller), 'delivered');
    proxy.freeze();
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await environment.send(caller, { recipient: `+551198765003${n}` }));
    for (const id of ids) await environment.age(id, 60);
    const enqueued = () => worker.count('onecode_sweeper_enqueues_total', { queue: 'deliver' });
    const before = await enqueued();
    await worker.sweep();
    // What Redis did not take was not enqueued.
    expect(await enqueued()).toBe(before);
    // The data that the proxy held back is lost.
    proxy.cut();
    await proxy.open();
    for (const id of ids) await environment.until(id, 'delivered');
    expect(environment.tap.requests).toHaveLength(4);
    await worker.stop();
    await environment.close();
  });
});
