import { Consumer, connectRedis, findRedisFault, openQueues } from '@onecode/runtime';
import {
  buildCaller,
  ProcessStack,
  STACK_START_MS_MAX,
  startProcess,
  until,
  type TestCaller,
} from '@onecode/testing';
import { HOST, RedisServers, startSentinels, type RedisServer } from './redisServers.js';

const PREFIX = 'onecode';
const TESTS_MS_MAX = 60_000;
const servers = new RedisServers();
const stacks: ProcessStack[] = [];
let master: RedisServer;
let sentinel: RedisServer;
let replica: RedisServer;
let node: RedisServer;
let tls: RedisServer;

beforeAll(async () => {
  const topology = await startSentinels(servers);
  [master, replica] = topology.servers as [RedisServer, RedisServer];
  [sentinel] = topology.sentinels as [RedisServer];
  node = await servers.start('alone-in-a-cluster', ['cluster-enabled yes']);
  tls = await servers.start('tls', [], { isTls: true });
}, 2 * TESTS_MS_MAX);
afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.stop();
});
afterAll(() => servers.close());

const urlOf = ({ port }: RedisServer, user = `:${servers.password}`): string =>
  `redis://${user}@${HOST}:${port}`;

async function startStack(
  redisUrl: string,
  workers: number,
): Promise<{ stack: ProcessStack; caller: TestCaller }> {
  const stack = await ProcessStack.start({ workers, env: { REDIS_URL: redisUrl } });
  stacks.push(stack);
  return { stack, caller: await buildCaller(stack.db.database, 'test') };
}

const warnings = (stack: ProcessStack, reason: string): number =>
  stack.output().split(`"reason":"REDIS_URL ${reason}`).length - 1;

describe.each([
  [
    'a sentinel',
    () => sentinel,
    'names a sentinel: write redis+sentinel://host:port/<master name> to reach what it watches',
  ],
  [
    'a node of a cluster',
    () => node,
    'names a node of a cluster: write redis+cluster://host:port[,host:port…]',
  ],
  [
    'a replica',
    () => replica,
    'names a replica, which refuses writes: name its master, or the sentinels that know it',
  ],
  [
    'a server with TLS',
    () => tls,
    'names a server with TLS: write rediss://, redis+sentinel+tls:// or redis+cluster+tls://',
  ],
])('with %s as redis://', (_, server, fault) => {
  it('a worker ends with one line and exit code 1', async () => {
    const worker = startProcess('apps/worker/dist/main.js', {
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      REDIS_URL: urlOf(server()),
      SECRET_KEY: Buffer.alloc(32).toString('base64'),
      WHATSAPP_API_URL: 'http://127.0.0.1:1',
      LOG_LEVEL: 'warn',
    });
    expect(await worker.exited).toEqual({ code: 1, signal: null });
    expect(worker.output()).toBe(`worker: REDIS_URL ${fault}\n`);
  });

  it(
    'an API accepts sends, is ready, and warns once',
    async () => {
      const { stack, caller } = await startStack(urlOf(server()), 0);
      await until('a warning', () => warnings(stack, fault) > 0);
      expect((await stack.request('GET', '/readyz')).status).toBe(200);
      for (let n = 0; n < 3; n++)
        expect(await stack.create(caller.key, { to: `+551198765000${n}` })).toMatchObject({
          status: 'queued',
        });
      expect(warnings(stack, fault)).toBe(1);
    },
    STACK_START_MS_MAX,
  );
});

describe('queues of a running process', () => {
  it('find a policy that is changed, and work again when it is set right, without a new connection', async () => {
    const server = await servers.start('set-right', ['maxmemory-policy allkeys-lru']);
    const source = { redisUrl: urlOf(server) };
    const admin = connectRedis(source, 'enqueue', { onError: () => {}, onFault: () => {} });
    const queues = openQueues({ ...source, prefix: PREFIX, onError: () => {} });
    const refusal = () => queues.ping().then(String, ({ message }: Error) => message);
    await until('the refusal', async () => (await refusal()).includes('allkeys-lru'));
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await expect(queues.ping()).resolves.toBeUndefined();
    expect(await admin.config('SET', 'maxmemory-policy', 'volatile-lru')).toBe('OK');
    await expect(queues.ping()).rejects.toMatchObject({
      reason: 'unfit',
      message:
        'REDIS_URL names a Redis with maxmemory-policy volatile-lru, which deletes jobs: set it to noeviction',
    });
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    await expect(queues.ping()).resolves.toBeUndefined();
    await queues.close();
    admin.disconnect();
  });
});

describe('findRedisFault', () => {
  it.each(['allkeys-lru', 'volatile-ttl'])('refuses the maxmemory-policy %s', async (policy) => {
    const server = await servers.start(`evicts-${policy}`, [`maxmemory-policy ${policy}`]);
    expect(await findRedisFault({ redisUrl: urlOf(server) }, PREFIX)).toBe(
      `names a Redis with maxmemory-policy ${policy}, which deletes jobs: set it to noeviction`,
    );
  });

  it('refuses a Redis without commands that the queues need', async () => {
    const server = await servers.start('renamed', ['rename-command bzpopmin ""', 'rename-command xadd ""']);
    expect(await findRedisFault({ redisUrl: urlOf(server) }, PREFIX)).toBe(
      'names a Redis without the commands xadd, bzpopmin',
    );
  });

  it.each([
    [['~*', '+@all', '-info'], 'names a user who may not run info'],
    [['~*', '+@all', '-eval'], 'names a user who may not run eval'],
    [['~*', '+@all', '-evalsha', '-zadd'], 'names a user who may not run zadd, evalsha'],
    [['~other:*', '+@all'], `names a user who may not use the keys ${PREFIX}:*`],
    [[`%R~${PREFIX}:*`, '+@all'], `names a user who may not use the keys ${PREFIX}:*`],
  ])('refuses a user with %j', async (rules, fault) => {
    await master.call('acl', 'setuser', 'app', 'reset', 'on', '>secret', ...rules);
    expect(await findRedisFault({ redisUrl: urlOf(master, 'app:secret') }, PREFIX)).toBe(fault);
  });

  it('refuses a password that Redis refuses, and none where it asks for one', async () => {
    expect(await findRedisFault({ redisUrl: urlOf(master, ':wrong') }, PREFIX)).toBe(
      'has a user or a password that Redis refuses',
    );
    expect(await findRedisFault({ redisUrl: `redis://${HOST}:${master.port}` }, PREFIX)).toBe(
      'names no password, and Redis asks for one',
    );
  });

  it('names TLS that is missing and TLS that is too much, of servers, sentinels and cluster nodes', async () => {
    const without = 'names a server without TLS: write redis://, redis+sentinel:// or redis+cluster://';
    const withTls = 'names a server with TLS: write rediss://, redis+sentinel+tls:// or redis+cluster+tls://';
    const at = ({ port }: RedisServer, scheme: string, path = ''): string =>
      `${scheme}://:${servers.password}@${HOST}:${port}${path}`;
    const faults = await Promise.all(
      [
        at(master, 'rediss'),
        at(sentinel, 'redis+sentinel+tls', '/onecode-main'),
        at(node, 'redis+cluster+tls'),
        at(tls, 'redis'),
        at(tls, 'redis+sentinel', '/onecode-main'),
        at(tls, 'redis+cluster'),
      ].map((redisUrl) => findRedisFault({ redisUrl }, PREFIX)),
    );
    expect(faults).toEqual([without, without, without, withTls, withTls, withTls]);
  });

  it('finds nothing at a Redis that is well, and at one that cannot be reached, and leaves no key', async () => {
    expect(await findRedisFault({ redisUrl: urlOf(master) }, PREFIX)).toBeNull();
    expect(await master.call('dbsize')).toBe(0);
    expect(await findRedisFault({ redisUrl: `redis://${HOST}:1` }, PREFIX)).toBeNull();
  });
});

it(
  'processes leave a master that becomes a replica, say so, and go on when it is a master again',
  async () => {
    const server = await servers.start('demoted');
    const failures = (): string[] =>
      stack
        .output()
        .split('\n')
        .filter((line) => line.includes('"Redis cannot be used"'));
    const { stack, caller } = await startStack(urlOf(server), 1);
    const { id } = await stack.create(caller.key, { to: '+5511987650001' });
    await stack.untilStatus(caller.key, id, 'read');

    await server.call('replicaof', HOST, master.port);
    const waiting = await stack.create(caller.key, { to: '+5511987650002' });
    await until('a warning of the API and of the worker', async () => {
      await stack.create(caller.key, { to: '+5511987650003' });
      return failures().length === 2;
    });
    const [, workerMetrics] = stack.metrics;
    const answer = await fetch(`${workerMetrics}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('redis')]);

    await server.call('replicaof', 'no', 'one');
    await stack.untilStatus(caller.key, waiting.id, 'read');
    await until(
      'a line of each that Redis is back',
      () => stack.output().split('"Redis can be used again"').length - 1 === 2,
    );
    expect(failures()).toEqual([expect.stringMatching(/replica/), expect.stringMatching(/replica/)]);
  },
  2 * TESTS_MS_MAX,
);

it('a consumer pauses after each refusal', async () => {
  await master.call(
    'acl',
    'setuser',
    'blocked',
    'reset',
    'on',
    '>secret',
    '~*',
    '+@all',
    '-bzpopmin',
    '-evalsha',
  );
  const listeners = { onError: () => {}, onFault: () => {} };
  const connection = connectRedis({ redisUrl: urlOf(master, 'blocked:secret') }, 'consume', listeners);
  const consumer = new Consumer('deliver', async () => null, { connection, prefix: PREFIX });
  const refusedAt: number[] = [];
  consumer.on('error', () => refusedAt.push(performance.now()));
  await until('four refusals', () => refusedAt.length >= 4);
  // Each of the two connections is refused at most once a second.
  expect(refusedAt[3]! - refusedAt[0]!).toBeGreaterThan(900);
  await consumer.close();
  connection.disconnect();
});
