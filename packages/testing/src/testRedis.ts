import type { Redis } from 'ioredis';
import { until } from './until.js';

/** Returns the address of the Redis that all tests share. The keys of each test begin with its own prefix. */
export function testRedisUrl(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is missing: run the tests with npm test');
  return url;
}

/** Connects to this Redis. The caller disconnects. */
export async function connectTestRedis(): Promise<Redis> {
  // Loaded on demand: most test files that import this package use no Redis.
  const ioredis = await import('ioredis');
  return new ioredis.Redis(testRedisUrl());
}

/** Returns every key with this prefix. */
export async function keysOf(redis: Redis, prefix: string): Promise<string[]> {
  const keys = new Set<string>();
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${prefix}:*`, 'COUNT', 1_000);
    for (const key of found) keys.add(key);
    cursor = next;
  } while (cursor !== '0');
  return [...keys];
}

/** Deletes every key with this prefix. */
export async function deleteKeys(redis: Redis, prefix: string): Promise<void> {
  const keys = await keysOf(redis, prefix);
  if (keys.length > 0) await redis.del(...keys);
}

/** Returns every key with this prefix and its value, as one text. @throws for an unsupported type of value */
export async function redisContents(redis: Redis, prefix: string): Promise<string> {
  const keys = await keysOf(redis, prefix);
  const values = await Promise.all(keys.map(async (key) => [key, await valueOf(redis, key)] as const));
  return values.map((pair) => JSON.stringify(pair)).join('\n');
}

async function valueOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return redis.xrange(key, '-', '+');
    case 'none':
      return null;
    default:
      throw new Error(`redisContents cannot read values of the type ${type}`);
  }
}

/** Waits until a queue's ping succeeds. */
export async function untilQueueReady(queue: { ping(): Promise<void> }): Promise<void> {
  await until('an answer of Redis', () =>
    queue.ping().then(
      () => true,
      () => false,
    ),
  );
}
