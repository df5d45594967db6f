import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connectRedis, Consumer, findRedisFault, keyPrefix, openDeliveryQueue } from '@onecode/runtime';
import { describeIf, until } from '@onecode/testing';
import {
  RedisServers,
  startCluster,
  startSentinels,
  type RedisServer,
  type Topology,
} from './redisServers.js';

const PREFIX = 'onecode';
const START_MS_MAX = 120_000;
const FAIL_OVER_MS_MAX = 120_000;
const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** A queue and its consumer at one address, until the test ends. */
async function openQueue(redisUrl: string, redisCa = '') {
  const done: string[] = [];
  const deliveryQueue = openDeliveryQueue({
    redisUrl,
    redisCa,
    prefix: PREFIX,
    deliveryAttempts: 5,
    onError: () => {},
  });
  const listeners = { onError: () => {}, onFault: () => {} };
  const connection = connectRedis({ redisUrl, redisCa }, 'consume', listeners);
  const consumer = new Consumer('deliver', async (job) => done.push(String(job.data.sendId)), {
    connection,
    prefix: keyPrefix(redisUrl, PREFIX),
  });
  consumer.on('error', () => {});
  opened.push({
    async close() {
      await deliveryQueue.close();
      await consumer.close();
      connection.disconnect();
    },
  });
  let sent = 0;
  return {
    /** Enqueues a job, again until Redis takes it as the sweeper does, and waits until it was consumed. */
    async untilDelivered(): Promise<void> {
      const sendId = `send-${(sent += 1)}`;
      await until(
        'an accepted job',
        () => deliveryQueue.enqueue('deliver', [{ sendId, version: 0 }]),
        FAIL_OVER_MS_MAX,
      );
      await until('a consumed job', () => done.includes(sendId), FAIL_OVER_MS_MAX);
    },
    ping: () => deliveryQueue.ping(),
  };
}

async function expectFailOver(topology: Topology, url = topology.url, redisCa = ''): Promise<void> {
  const queue = await openQueue(url, redisCa);
  await queue.untilDelivered();
  await queue.ping();
  const before = await topology.master();
  await before.kill();
  await topology.untilReplaced(before);
  await queue.untilDelivered();
  await before.restart();
  await topology.untilComplete();
  await queue.untilDelivered();
  await queue.ping();
}

describe('Sentinel', () => {
  let servers: RedisServers;
  let topology: Awaited<ReturnType<typeof startSentinels>>;
  beforeAll(async () => {
    servers = new RedisServers();
    topology = await startSentinels(servers);
  }, START_MS_MAX);
  afterAll(() => servers.close());

  it(
    'delivers jobs before and after a killed master, and when it is back',
    () => expectFailOver(topology),
    FAIL_OVER_MS_MAX,
  );

  it(
    'replaces the connection to a master that becomes a replica',
    async () => {
      const queue = await openQueue(topology.url);
      await queue.untilDelivered();
      const before = await topology.master();
      await until('a fail-over that the sentinels agree to', () =>
        topology.sentinels[0]!.call('sentinel', 'failover', 'onecode-main').then(
          () => true,
          () => false,
        ),
      );
      await topology.untilReplaced(before);
      await queue.untilDelivered();
      await topology.untilComplete();
      await queue.untilDelivered();
    },
    FAIL_OVER_MS_MAX,
  );

  it('is in order when some sentinels are gone', async () => {
    const gone = topology.url.replace('@', '@127.0.0.1:1,');
    expect(await findRedisFault({ redisUrl: gone }, PREFIX)).toBeNull();
    const queue = await openQueue(gone);
    await queue.untilDelivered();
  });

  it('has an ACL user whom the sentinels do not know', async () => {
    const master = await topology.master();
    await master.call(
      'acl',
      'setuser',
      'app',
      'on',
      '>secret',
      `~${PREFIX}:*`,
      '+@all',
      '-@dangerous',
      '+info',
    );
    const url = topology.url.replace(`:${servers.password}@`, 'app:secret@');
    expect(await findRedisFault({ redisUrl: url }, PREFIX)).toBeNull();
    const queue = await openQueue(url);
    await queue.untilDelivered();
  });

  it.each([
    [
      'a master that no sentinel knows',
      (url: string) => url.replace('onecode-main', 'other'),
      'names a master that its sentinels do not know',
    ],
    [
      'a server that is no sentinel',
      (url: string, port: number) => url.replace(/@.*\//, `@127.0.0.1:${port}/`),
      'names a server that is no sentinel',
    ],
    [
      'a wrong password',
      (url: string) => url.replace(/:[0-9a-f]+@/, ':wrong@'),
      'has a user or a password that Redis refuses',
    ],
  ])('is not %s', async (_, change, fault) => {
    const { port } = await topology.master();
    expect(await findRedisFault({ redisUrl: change(topology.url, port) }, PREFIX)).toBe(fault);
  });
});

describe('Sentinel with a password of the sentinels', () => {
  it(
    'takes the same one',
    async () => {
      const servers = new RedisServers();
      const { url } = await startSentinels(servers, { sentinelPassword: servers.password });
      expect(await findRedisFault({ redisUrl: url }, PREFIX)).toBeNull();
      const queue = await openQueue(url);
      await queue.untilDelivered();
      await opened.pop()?.close();
      await servers.close();
    },
    START_MS_MAX,
  );
});

describe('Cluster', () => {
  let servers: RedisServers;
  let topology: Topology;
  beforeAll(async () => {
    servers = new RedisServers();
    topology = await startCluster(servers, `{${PREFIX}}:deliver`);
  }, START_MS_MAX);
  afterAll(() => servers.close());

  it(
    'delivers jobs before and after a killed master, and when it is back',
    () => expectFailOver(topology),
    FAIL_OVER_MS_MAX,
  );

  it('keeps the keys of all queues on one node', async () => {
    const queue = await openQueue(topology.url);
    await queue.untilDelivered();
    const keys = (await (await topology.master()).call('keys', '*')) as string[];
    expect(keys.filter((key) => key.startsWith(`{${PREFIX}}:deliver:`))).not.toEqual([]);
    expect(keys.filter((key) => !key.startsWith(`{${PREFIX}}:`))).toEqual([]);
  });

  it('has ACL users', async () => {
    const rules = [
      'on',
      '>secret',
      `~{${PREFIX}}:*`,
      '+@all',
      '-@dangerous',
      '+info',
      '+cluster|slots',
      '+cluster|info',
    ];
    for (const node of topology.servers) await node.call('acl', 'setuser', 'app', ...rules);
    const url = topology.url.replace(`:${servers.password}@`, 'app:secret@');
    expect(await findRedisFault({ redisUrl: url }, PREFIX)).toBeNull();
    const queue = await openQueue(url);
    await queue.untilDelivered();
    for (const node of topology.servers) await node.call('acl', 'setuser', 'app', '-cluster|slots');
    expect(await findRedisFault({ redisUrl: url }, PREFIX)).toBe(
      'names a user who may not run cluster|slots',
    );
  });

  it('is not a wrong password, nor a server on its own', async () => {
    const wrong = topology.url.replace(/:[0-9a-f]+@/, ':wrong@');
    expect(await findRedisFault({ redisUrl: wrong }, PREFIX)).toBe(
      'has a user or a password that Redis refuses',
    );
    const { port } = await servers.start('alone');
    const alone = `redis+cluster://:${servers.password}@127.0.0.1:${port}`;
    expect(await findRedisFault({ redisUrl: alone }, PREFIX)).toMatch(
      /^names a Redis that is no part of a cluster/,
    );
  });
});

const UNTRUSTED =
  /^leads to a certificate that is not trusted \(\w+\): name its authority’s file in REDIS_CA_FILE$/;

describeIf(hasOpenssl)('TLS with an own authority (skipped without openssl)', () => {
  let servers: RedisServers;
  let server: RedisServer;
  let ca: string;
  beforeAll(async () => {
    servers = new RedisServers();
    server = await servers.start('tls', [], { isTls: true });
    ca = readFileSync(servers.caFile, 'utf8');
  }, START_MS_MAX);
  afterAll(() => servers.close());

  it('serves one server', async () => {
    const url = `rediss://:${servers.password}@127.0.0.1:${server.port}`;
    expect(await findRedisFault({ redisUrl: url, redisCa: ca }, PREFIX)).toBeNull();
    const queue = await openQueue(url, ca);
    await queue.untilDelivered();
    expect(await findRedisFault({ redisUrl: url }, PREFIX)).toMatch(UNTRUSTED);
  });

  it(
    'serves sentinels and what they watch',
    async () => {
      const topology = await startSentinels(servers, { isTls: true });
      expect(topology.url).toMatch(/^redis\+sentinel\+tls:/);
      expect(await findRedisFault({ redisUrl: topology.url }, PREFIX)).toMatch(UNTRUSTED);
      await expectFailOver(topology, topology.url, ca);
    },
    FAIL_OVER_MS_MAX,
  );

  it(
    'serves a cluster',
    async () => {
      const topology = await startCluster(servers, `{${PREFIX}}:deliver`, { isTls: true });
      expect(topology.url).toMatch(/^redis\+cluster\+tls:/);
      expect(await findRedisFault({ redisUrl: topology.url }, PREFIX)).toMatch(UNTRUSTED);
      await expectFailOver(topology, topology.url, ca);
    },
    FAIL_OVER_MS_MAX,
  );
});
