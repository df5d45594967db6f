import tls from 'node:tls';
import { connectRedis, Consumer, keyPrefix, openQueues } from '@onecode/runtime';
import { until } from '@onecode/testing';
import { HOST, RedisServers, startCluster, startSentinel, type Topology } from './redisServers.js';

const PREFIX = 'onecode';
const START_MS_MAX = 120_000;
const FAIL_OVER_MS_MAX = 120_000;

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

const configOf = (url: string) => ({ REDIS_URL: url, QUEUE_PREFIX: PREFIX });

const { createSecureContext } = tls;
/** Trusts a private authority, as NODE_EXTRA_CA_CERTS does, or none. Node reads that variable only when it starts. */
function trust(ca?: string): void {
  tls.createSecureContext = (options) => createSecureContext({ ...options, ca });
}
afterAll(() => {
  tls.createSecureContext = createSecureContext;
});

/** A queue and its consumer at one address, until the test ends. */
function openQueue(url: string) {
  const config = configOf(url);
  const done: string[] = [];
  const deliveryQueue = openQueues(config);
  const connection = connectRedis(config, 'consume');
  const consumer = new Consumer('deliver', async (job) => done.push(String(job.data.sendId)), {
    connection,
    prefix: keyPrefix(config),
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
    /** Enqueues a job, with retries until Redis accepts it, and waits until it was consumed. */
    async untilDelivered(): Promise<void> {
      const sendId = `send-${(sent += 1)}`;
      const enqueue = () => deliveryQueue.enqueue('deliver', sendId);
      await until('an accepted job', enqueue, FAIL_OVER_MS_MAX);
      await until('a consumed job', () => done.includes(sendId), FAIL_OVER_MS_MAX);
      await deliveryQueue.ping();
    },
  };
}

/** Waits until a ping fails with this reason. */
async function untilRefused(config: ReturnType<typeof configOf>, reason: RegExp): Promise<void> {
  const queues = openQueues(config);
  opened.push(queues);
  await until('the reason', () =>
    queues.ping().then(
      () => false,
      ({ message }: Error) => reason.test(message),
    ),
  );
}

describe('Redis', () => {
  const servers = new RedisServers();
  afterAll(() => servers.close());

  describe.each<[string, boolean, (isTls: boolean) => Promise<Topology>]>([
    ['Sentinel', false, (isTls) => startSentinel(servers, { isTls })],
    [
      'Sentinel, TLS and a password of the sentinels',
      true,
      (isTls) => startSentinel(servers, { isTls, sentinelPassword: servers.password }),
    ],
    ['Cluster', false, (isTls) => startCluster(servers, `{${PREFIX}}:deliver`, { isTls })],
    ['Cluster and TLS', true, (isTls) => startCluster(servers, `{${PREFIX}}:deliver`, { isTls })],
  ])('with %s', (_, isTls, start) => {
    let topology: Topology;
    let url: string;
    beforeAll(async () => {
      topology = await start(isTls);
      trust(servers.ca);
      // One server of the address has been stopped.
      url = topology.url.replace('@', `@${HOST}:1,`);
    }, START_MS_MAX);

    it(
      'continues jobs after a killed master, and after its return',
      async () => {
        const queue = openQueue(url);
        await queue.untilDelivered();
        const before = await topology.master();
        await before.kill();
        await topology.untilReplaced(before);
        await queue.untilDelivered();
        await before.restart();
        await topology.untilComplete();
        await queue.untilDelivered();
      },
      FAIL_OVER_MS_MAX,
    );

    it(
      'continues jobs after a master became a replica while its connections stay open',
      async () => {
        const queue = openQueue(url);
        await queue.untilDelivered();
        const before = await topology.master();
        await topology.failOver();
        await topology.untilReplaced(before);
        await queue.untilDelivered();
        await topology.untilComplete();
        await queue.untilDelivered();
      },
      FAIL_OVER_MS_MAX,
    );

    it('works for a user with the rights of docs/operations.md, with all keys on one node', async () => {
      const keys = keyPrefix(configOf(url));
      const rules = ['on', '>secret', `~${keys}:*`, '+@all', '-@dangerous', '+info'];
      if (keys !== PREFIX) rules.push('+cluster|slots', '+cluster|info');
      for (const server of topology.servers) await server.call('acl', 'setuser', 'app', ...rules);
      // Sentinels with a password know no such user.
      const user = url.includes('sentinel+tls') ? '' : 'app:secret';
      const own = user === '' ? url : url.replace(`:${servers.password}@`, `${user}@`);
      await openQueue(own).untilDelivered();
      const found = (await (await topology.master()).call('keys', '*')) as string[];
      expect(found).toContain(`${keys}:deliver:completed`);
      expect(found.filter((key) => !key.startsWith(`${keys}:`))).toEqual([]);
      // As the queue board reads them.
      const queues = openQueues(configOf(own));
      await until('a connection', () => queues.isReady());
      expect(await queues.of('deliver').getJobs(['completed'])).not.toEqual([]);
      await queues.close();
    });

    it('reports a wrong password', async () => {
      const wrong = topology.url.replace(/:[0-9a-f]+@/, ':wrong@');
      await untilRefused(configOf(wrong), /WRONGPASS/);
    });
  });

  it('with one server and TLS is trusted only with NODE_EXTRA_CA_CERTS for a private authority', async () => {
    const { port } = await servers.start('tls', [], { isTls: true });
    const url = `rediss://:${servers.password}@${HOST}:${port}`;
    trust();
    await untilRefused(configOf(url), /certificate/);
    trust(servers.ca);
    await openQueue(url).untilDelivered();
  });
});
