import type { Bell } from '@onecode/runtime';
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

const ring = (sendId: string) => [{ sendId, generation: 0 }];
/** A ring is given up after two seconds; an answer in less than this is one that did not wait for that. */
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

async function openBehindProxy(): Promise<{ proxy: TcpProxy; bell: Bell }> {
  const proxy = await startProxy();
  const bell = await corner.openBell(proxy.url);
  await until('a bell that is ready', () => bell.isReady());
  expect(await bell.ring('deliver', ring('before'))).toBe(true);
  return { proxy, bell };
}

/** A ring gets through again, and its job is really there. */
async function expectRecovery(bell: Bell): Promise<void> {
  let rings = 0;
  await until('a ring that is taken', () => bell.ring('deliver', ring(`after-${(rings += 1)}`)));
  const jobs = await Promise.all(
    (await corner.waiting('deliver')).map((id) =>
      corner.redis.hget(`${corner.prefix}:deliver:${id}`, 'data'),
    ),
  );
  expect(jobs).toContain(JSON.stringify({ sendId: `after-${rings}` }));
  await expect(bell.ping()).resolves.toBeUndefined();
}

describe.each([
  ['nobody listens', closedPort],
  ['the server never says a word', () => startTcpServer()],
])('when %s', (_, start) => {
  it('opens, says at once that it took no ring, fails a ping, and closes', async () => {
    const bell = await corner.openBell(urlAt(await start()));
    expect(bell.isReady()).toBe(false);
    const answer = bell.ring('deliver', ring('one'));
    expect(await msOf(answer)).toBeLessThan(AT_ONCE_MS);
    expect(await answer).toBe(false);
    expect(await bell.ring('receipts')).toBe(false);
    await expect(bell.ping()).rejects.toThrow('Redis is not connected');
    expect(await msOf(bell.close())).toBeLessThan(IN_TIME_MS);
  });
});

it('is ready by itself once a Redis that was away at the start is there', async () => {
  const proxy = await startProxy();
  await proxy.refuse();
  const bell = await corner.openBell(proxy.url);
  expect(await bell.ring('deliver', ring('early'))).toBe(false);
  await proxy.open();
  await expectRecovery(bell);
});

it('says that it took no ring while connections are refused, and recovers by itself', async () => {
  const { proxy, bell } = await openBehindProxy();
  await proxy.refuse();
  await until('a bell that noticed', () => !bell.isReady());
  const answers = Array.from({ length: 50 }, () => bell.ring('deliver', ring('lost')));
  expect(await msOf(Promise.all(answers))).toBeLessThan(AT_ONCE_MS);
  expect(new Set(await Promise.all(answers))).toEqual(new Set([false]));
  await proxy.open();
  await expectRecovery(bell);
});

it('recovers from one cut after the other', async () => {
  const { proxy, bell } = await openBehindProxy();
  for (let round = 0; round < 3; round++) {
    await proxy.refuse();
    await proxy.open();
    await expectRecovery(bell);
  }
});

it('gives up a ring under way when the connection breaks', async () => {
  const { proxy, bell } = await openBehindProxy();
  proxy.freeze();
  const answer = bell.ring('deliver', ring('under-way'));
  await proxy.refuse();
  expect(await msOf(answer)).toBeLessThan(IN_TIME_MS);
  expect(await answer).toBe(false);
});

describe('when Redis freezes', () => {
  it('gives each ring and each ping up in time, and goes on after the thaw', async () => {
    const { proxy, bell } = await openBehindProxy();
    proxy.freeze();
    const answers = [
      bell.ring('deliver', ring('one')),
      bell.ring('simulate', ring('two')),
      bell.ring('receipts'),
    ];
    const ping = bell.ping().then(
      () => 'answered',
      () => 'failed',
    );
    expect(await msOf(Promise.all([...answers, ping]))).toBeLessThan(IN_TIME_MS);
    expect(await Promise.all(answers)).toEqual([false, false, false]);
    expect(await ping).toBe('failed');
    await proxy.open();
    await expectRecovery(bell);
  });

  it('takes no more than 2,000 rings under way', async () => {
    const { proxy, bell } = await openBehindProxy();
    proxy.freeze();
    const underWay = Promise.all(
      Array.from({ length: 2_000 }, (_, number) => bell.ring('deliver', ring(`frozen-${number}`))),
    );
    const oneMore = bell.ring('deliver', ring('one-more')).then(() => 'one more');
    expect(await Promise.race([underWay.then(() => 'under way'), oneMore])).toBe('one more');
    expect(new Set(await underWay)).toEqual(new Set([false]));
    await proxy.open();
    await expectRecovery(bell);
  });

  it('closes in time', async () => {
    const { proxy, bell } = await openBehindProxy();
    proxy.freeze();
    const answer = bell.ring('deliver', ring('one'));
    expect(await msOf(bell.close())).toBeLessThan(IN_TIME_MS);
    expect(await answer).toBe(false);
  });
});

describe('a connection that went dead without a word is left for a new one', () => {
  it('by the bell', async () => {
    const { proxy, bell } = await openBehindProxy();
    proxy.abandon();
    await expectRecovery(bell);
  });

  it('by a consumer', async () => {
    const { proxy, bell } = await openBehindProxy();
    const seen: unknown[] = [];
    corner.startWorker('deliver', async (job) => seen.push(job.data.sendId), proxy.url);
    await until('the ring “before”', () => seen.includes('before'));
    proxy.abandon();
    await until('a ring that is taken', () => bell.ring('deliver', ring('after')));
    await until('the ring “after”', () => seen.includes('after'));
  });
});
