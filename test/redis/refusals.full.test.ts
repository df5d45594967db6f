import { connectRedis, Consumer, openQueues } from '@onecode/runtime';
import { buildCaller, ProcessStack, STACK_START_MS_MAX, startProcess, until } from '@onecode/testing';
import { HOST, RedisServers, type RedisServer } from './redisServers.js';

const servers = new RedisServers();
afterAll(() => servers.close());

const urlOf = ({ port }: RedisServer, user = `:${servers.password}`): string =>
  `redis://${user}@${HOST}:${port}`;

const EVICTS =
  'REDIS_URL names a Redis with maxmemory-policy volatile-lru, which deletes jobs: set it to noeviction';
const IS_REPLICA = 'READONLY ';

describe('an unusable Redis', () => {
  it.each([
    ['a replica', [`replicaof ${HOST} 1`], undefined, IS_REPLICA],
    ['a policy that evicts jobs', ['maxmemory-policy volatile-lru'], undefined, EVICTS],
    ['another password', [], ':wrong', 'WRONGPASS '],
  ])('keeps a worker unready, with one warning: %s', async (_, settings, user, reason) => {
    const worker = startProcess('apps/worker/dist/main.js', {
      DATABASE_URL: 'postgresql://unknown@127.0.0.1:1/none',
      REDIS_URL: urlOf(await servers.start('unfit', settings), user),
      SECRET_KEY: Buffer.alloc(32).toString('base64'),
      WHATSAPP_API_URL: 'http://127.0.0.1:1',
      LOG_LEVEL: 'info',
    });
    const warnings = () =>
      worker.log().filter(({ msg, service }) => msg === 'service unavailable' && service === 'redis');
    await until('the warning', () => warnings().length > 0);
    expect(warnings()).toMatchObject([{ reason: expect.stringContaining(reason) }]);
    const port = worker.log().find(({ msg }) => msg === 'ready')!['metrics_port'] as number;
    await until('the reason', async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
      expect(answer.status).toBe(503);
      return (await answer.text()).includes(`redis: ${reason}`);
    });
    await worker.stop();
  });

  it(
    'does not prevent the API from accepting sends, and is logged in one warning',
    async () => {
      const replica = await servers.start('unfit', [`replicaof ${HOST} 1`]);
      const stack = await ProcessStack.start({ workers: 0, env: { REDIS_URL: urlOf(replica) } });
      const { key } = await buildCaller(stack.db.database, 'test');
      const warnings = (): number => stack.output().split(`"reason":"${IS_REPLICA}`).length - 1;
      await until('a warning', () => warnings() > 0);
      expect((await stack.request('GET', '/readyz')).status).toBe(200);
      for (let n = 0; n < 3; n++)
        expect(await stack.create(key, { to: `+551198765000${n}` })).toMatchObject({ status: 'queued' });
      expect(warnings()).toBe(1);
      await stack.stop();
    },
    STACK_START_MS_MAX,
  );
});

it('queues report a changed eviction policy, and are ready again after it is corrected', async () => {
  const server = await servers.start('set-right');
  const queues = openQueues({ REDIS_URL: urlOf(server), QUEUE_PREFIX: 'onecode' });
  await until('a connection', () => queues.isReady());
  await expect(queues.ping()).resolves.toBeUndefined();
  await server.call('config', 'set', 'maxmemory-policy', 'volatile-lru');
  await expect(queues.ping()).rejects.toThrow(EVICTS);
  await server.call('config', 'set', 'maxmemory-policy', 'noeviction');
  await expect(queues.ping()).resolves.toBeUndefined();
  await queues.close();
});

it.each([
  ['a user without rights', (server: RedisServer) => urlOf(server, 'blocked:secret')],
  ['a replica', (server: RedisServer) => urlOf(server)],
])('a consumer pauses after each refusal of %s', async (refused, url) => {
  const server = await servers.start('refusing');
  await server.call('acl', 'setuser', 'blocked', 'on', '>secret', '~*', '+@all', '-bzpopmin', '-evalsha');
  if (refused === 'a replica') await server.call('replicaof', HOST, 1);
  const connection = connectRedis({ REDIS_URL: url(server), QUEUE_PREFIX: 'onecode' }, 'consume');
  const consumer = new Consumer('deliver', async () => null, { connection, prefix: 'onecode' });
  const refusedAt: number[] = [];
  consumer.on('error', () => refusedAt.push(performance.now()));
  await until('four refusals', () => refusedAt.length >= 4);
  expect(refusedAt[3]! - refusedAt[0]!).toBeGreaterThan(250);
  await consumer.close();
  connection.disconnect();
});
