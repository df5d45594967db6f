import type { DeliveryQueue } from '@onecode/runtime';
import { closedPort, startTcpProxy, startTcpServer, until, type TcpProxy } from '@onecode/testing';
import { openTestQueues } from './testQueues.js';

const queues = openTestQueues();
const proxies: TcpProxy[] = [];
afterEach(async () => {
  await queues.reset();
  for (const proxy of proxies.splice(0)) await proxy.close();
});
afterAll(() => queues.close());

const jobOf = (sendId: string) => [{ sendId, version: 0 }];
/** An enqueue is abandoned after two seconds; an answer within this time did not wait for that. */
const AT_ONCE_MS = 1_800;
const IN_TIME_MS = 10_000;

async function msOf(answer: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await answer;
  return performance.now() - started;
}

function urlAt(port: number): string {
  const url = new URL(queues.url);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}

async function startProxy(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(queues.url);
  proxies.push(proxy);
  return proxy;
}

async function openBehindProxy(): Promise<{ proxy: TcpProxy; deliveryQueue: DeliveryQueue }> {
  const proxy = await startProxy();
  const deliveryQueue = await queues.open(proxy.url);
  await until('a ready delivery queue', () => deliveryQueue.isReady());
  expect(await deliveryQueue.enqueue('deliver', jobOf('before'))).toBe(true);
  return { proxy, deliveryQueue };
}

/** Enqueueing works again, and the job is in Redis. */
async function expectRecovery(deliveryQueue: DeliveryQueue): Promise<void> {
  let enqueued = 0;
  await until('an enqueued job', () => deliveryQueue.enqueue('deliver', jobOf(`after-${(enqueued += 1)}`)));
  const jobs = await Promise.all(
    (await queues.waiting('deliver')).map((id) =>
      queues.redis.hget(`${queues.prefix}:deliver:${id}`, 'data'),
    ),
  );
  expect(jobs).toContain(JSON.stringify({ sendId: `after-${enqueued}` }));
  await expect(deliveryQueue.ping()).resolves.toBeUndefined();
}

describe.each([
  ['nothing listens at its address', closedPort],
  ['the server never answers', () => startTcpServer()],
])('when %s', (_, start) => {
  it('opens, answers at once that it enqueued nothing, fails a ping, and closes', async () => {
    const deliveryQueue = await queues.open(urlAt(await start()));
    expect(deliveryQueue.isReady()).toBe(false);
    const answer = deliveryQueue.enqueue('deliver', jobOf('one'));
    expect(await msOf(answer)).toBeLessThan(AT_ONCE_MS);
    expect(await answer).toBe(false);
    expect(await deliveryQueue.enqueue('receipts')).toBe(false);
    await expect(deliveryQueue.ping()).rejects.toThrow('Redis is not connected');
    expect(await msOf(deliveryQueue.close())).toBeLessThan(IN_TIME_MS);
  });
});

it('becomes ready by itself once a Redis that was down at the start is up', async () => {
  const proxy = await startProxy();
  await proxy.refuse();
  const deliveryQueue = await queues.open(proxy.url);
  expect(await deliveryQueue.enqueue('deliver', jobOf('early'))).toBe(false);
  await proxy.open();
  await expectRecovery(deliveryQueue);
});

it('answers that it enqueued nothing while connections are refused, and recovers by itself', async () => {
  const { proxy, deliveryQueue } = await openBehindProxy();
  await proxy.refuse();
  await until('a delivery queue that noticed', () => !deliveryQueue.isReady());
  const answers = Array.from({ length: 50 }, () => deliveryQueue.enqueue('deliver', jobOf('lost')));
  expect(await msOf(Promise.all(answers))).toBeLessThan(AT_ONCE_MS);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([false]));
  await proxy.open();
  await expectRecovery(deliveryQueue);
});

it('recovers from repeated disconnections', async () => {
  const { proxy, deliveryQueue } = await openBehindProxy();
  for (let round = 0; round < 3; round++) {
    await proxy.refuse();
    await proxy.open();
    await expectRecovery(deliveryQueue);
  }
});

it('abandons an enqueue under way when the connection breaks', async () => {
  const { proxy, deliveryQueue } = await openBehindProxy();
  proxy.freeze();
  const answer = deliveryQueue.enqueue('deliver', jobOf('under-way'));
  await proxy.refuse();
  expect(await msOf(answer)).toBeLessThan(IN_TIME_MS);
  expect(await answer).toBe(false);
});

describe('when Redis freezes', () => {
  it('abandons each enqueue and each ping in time, and recovers afterwards', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const answers = [
      deliveryQueue.enqueue('deliver', jobOf('one')),
      deliveryQueue.enqueue('simulate', jobOf('two')),
      deliveryQueue.enqueue('receipts'),
    ];
    const ping = deliveryQueue.ping().then(
      () => 'answered',
      () => 'failed',
    );
    expect(await msOf(Promise.all([...answers, ping]))).toBeLessThan(IN_TIME_MS);
    expect(await Promise.all(answers)).toEqual([false, false, false]);
    expect(await ping).toBe('failed');
    await proxy.open();
    await expectRecovery(deliveryQueue);
  });

  it('has at most 2,000 enqueues under way', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const underWay = Promise.all(
      Array.from({ length: 2_000 }, (_, number) =>
        deliveryQueue.enqueue('deliver', jobOf(`frozen-${number}`)),
      ),
    );
    const oneMore = deliveryQueue.enqueue('deliver', jobOf('one-more')).then(() => 'one more');
    expect(await Promise.race([underWay.then(() => 'under way'), oneMore])).toBe('one more');
    expect(new Set(await underWay)).toEqual(new Set([false]));
    await proxy.open();
    await expectRecovery(deliveryQueue);
  });

  it('closes in time', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const answer = deliveryQueue.enqueue('deliver', jobOf('one'));
    expect(await msOf(deliveryQueue.close())).toBeLessThan(IN_TIME_MS);
    expect(await answer).toBe(false);
  });
});

describe('a new connection replaces one that silently died', () => {
  it('in a delivery queue', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.abandon();
    await expectRecovery(deliveryQueue);
  });

  it('in a consumer', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    const seen: unknown[] = [];
    queues.consume('deliver', async (job) => seen.push(job.data.sendId), proxy.url);
    await until('the job “before”', () => seen.includes('before'));
    proxy.abandon();
    await until('an enqueued job', () => deliveryQueue.enqueue('deliver', jobOf('after')));
    await until('the job “after”', () => seen.includes('after'));
  });
});
