import type { DeliveryQueue } from '@onecode/runtime';
import { closedPort } from '../../../test/harness/closedPort.js';
import { startTcpProxy, type TcpProxy } from '../../../test/harness/tcpProxy.js';
import { startTcpServer } from '../../../test/harness/tcpServer.js';
import { until } from '../../../test/harness/until.js';
import { openCorner } from './redis.js';

const corner = openCorner();
const proxies: TcpProxy[] = [];
afterEach(async () => {
  await corner.clean();
  for (const proxy of proxies.splice(0)) await proxy.close();
});
afterAll(() => corner.end());

const job = (sendId: string) => [{ sendId, version: 0 }];
/** A job is given up after two seconds; an answer in less than this is one that did not wait for that. */
const AT_ONCE_MS = 500;
const IN_TIME_MS = 3_500;

async function msOf(answer: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await answer;
  return performance.now() - started;
}

function urlAt(port: number): string {
  const url = new URL(corner.url);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.href;
}

async function startProxy(): Promise<TcpProxy> {
  const proxy = await startTcpProxy(corner.url);
  proxies.push(proxy);
  return proxy;
}

async function openBehindProxy(): Promise<{ proxy: TcpProxy; deliveryQueue: DeliveryQueue }> {
  const proxy = await startProxy();
  const deliveryQueue = await corner.openDeliveryQueue(proxy.url);
  await until('a delivery queue that is ready', () => deliveryQueue.isReady());
  expect(await deliveryQueue.enqueue('deliver', job('before'))).toBe(true);
  return { proxy, deliveryQueue };
}

/** A job gets through again, and its job is really there. */
async function expectRecovery(deliveryQueue: DeliveryQueue): Promise<void> {
  let count = 0;
  await until('a job that is taken', () => deliveryQueue.enqueue('deliver', job(`after-${(count += 1)}`)));
  const jobs = await Promise.all(
    (await corner.waiting('deliver')).map((id) =>
      corner.redis.hget(`${corner.prefix}:deliver:${id}`, 'data'),
    ),
  );
  expect(jobs).toContain(JSON.stringify({ sendId: `after-${count}` }));
  await expect(deliveryQueue.ping()).resolves.toBeUndefined();
}

describe.each([
  ['nobody listens', closedPort],
  ['the server never says a word', () => startTcpServer()],
])('when %s', (_, start) => {
  it('opens, says at once that it took no job, fails a ping, and closes', async () => {
    const deliveryQueue = await corner.openDeliveryQueue(urlAt(await start()));
    expect(deliveryQueue.isReady()).toBe(false);
    const answer = deliveryQueue.enqueue('deliver', job('one'));
    expect(await msOf(answer)).toBeLessThan(AT_ONCE_MS);
    expect(await answer).toBe(false);
    expect(await deliveryQueue.enqueue('receipts')).toBe(false);
    await expect(deliveryQueue.ping()).rejects.toThrow('Redis is not connected');
    expect(await msOf(deliveryQueue.close())).toBeLessThan(IN_TIME_MS);
  });
});

it('is ready by itself once a Redis that was away at the start is there', async () => {
  const proxy = await startProxy();
  await proxy.refuse();
  const deliveryQueue = await corner.openDeliveryQueue(proxy.url);
  expect(await deliveryQueue.enqueue('deliver', job('early'))).toBe(false);
  await proxy.open();
  await expectRecovery(deliveryQueue);
});

it('says that it took no job while connections are refused, and recovers by itself', async () => {
  const { proxy, deliveryQueue } = await openBehindProxy();
  await proxy.refuse();
  await until('a delivery queue that noticed', () => !deliveryQueue.isReady());
  const answers = Array.from({ length: 50 }, () => deliveryQueue.enqueue('deliver', job('lost')));
  expect(await msOf(Promise.all(answers))).toBeLessThan(AT_ONCE_MS);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([false]));
  await proxy.open();
  await expectRecovery(deliveryQueue);
});

it('recovers from one cut after the other', async () => {
  const { proxy, deliveryQueue } = await openBehindProxy();
  for (let round = 0; round < 3; round++) {
    await proxy.refuse();
    await proxy.open();
    await expectRecovery(deliveryQueue);
  }
});

it('gives up a job under way when the connection breaks', async () => {
  const { proxy, deliveryQueue } = await openBehindProxy();
  proxy.freeze();
  const answer = deliveryQueue.enqueue('deliver', job('under-way'));
  await proxy.refuse();
  expect(await msOf(answer)).toBeLessThan(IN_TIME_MS);
  expect(await answer).toBe(false);
});

describe('when Redis freezes', () => {
  it('gives each job and each ping up in time, and goes on after the thaw', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const answers = [
      deliveryQueue.enqueue('deliver', job('one')),
      deliveryQueue.enqueue('simulate', job('two')),
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

  it('takes no more than 2,000 jobs under way', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const underWay = Promise.all(
      Array.from({ length: 2_000 }, (_, number) => deliveryQueue.enqueue('deliver', job(`frozen-${number}`))),
    );
    const oneMore = deliveryQueue.enqueue('deliver', job('one-more')).then(() => 'one more');
    expect(await Promise.race([underWay.then(() => 'under way'), oneMore])).toBe('one more');
    expect(new Set(await underWay)).toEqual(new Set([false]));
    await proxy.open();
    await expectRecovery(deliveryQueue);
  });

  it('closes in time', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.freeze();
    const answer = deliveryQueue.enqueue('deliver', job('one'));
    expect(await msOf(deliveryQueue.close())).toBeLessThan(IN_TIME_MS);
    expect(await answer).toBe(false);
  });
});

describe('a connection that went dead without a word is left for a new one', () => {
  it('by the delivery queue', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    proxy.abandon();
    await expectRecovery(deliveryQueue);
  });

  it('by a consumer', async () => {
    const { proxy, deliveryQueue } = await openBehindProxy();
    const seen: unknown[] = [];
    corner.startWorker('deliver', async (job) => seen.push(job.data.sendId), proxy.url);
    await until('the job “before”', () => seen.includes('before'));
    proxy.abandon();
    await until('a job that is taken', () => deliveryQueue.enqueue('deliver', job('after')));
    await until('the job “after”', () => seen.includes('after'));
  });
});
