import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { openForFile } from './openForFile.js';
import { createTestDatabase, type TestDatabase } from './testDatabase.js';
import { connectTestRedis, deleteKeys, testRedisUrl } from './testRedis.js';

/** The isolated resources of one test: a database, and the keys in Redis with one prefix. */
export class TestEnvironment {
  /** The prefix of its keys in Redis. */
  readonly prefix = `test-${randomBytes(6).toString('hex')}`;

  /** Takes ownership of the database and the connection. */
  constructor(
    readonly db: TestDatabase,
    readonly redis: Redis,
  ) {}

  /** Returns the variables that connect a process to this environment. */
  get variables(): { DATABASE_URL: string; REDIS_URL: string; QUEUE_PREFIX: string } {
    return { DATABASE_URL: this.db.url, REDIS_URL: testRedisUrl(), QUEUE_PREFIX: this.prefix };
  }

  /** Deletes its keys and its database. Stop all processes that use them first. */
  async close(): Promise<void> {
    await deleteKeys(this.redis, this.prefix);
    this.redis.disconnect();
    await this.db.drop();
  }
}

export const openTestEnvironment = async (): Promise<TestEnvironment> =>
  new TestEnvironment(await createTestDatabase(), await connectTestRedis());

/** Opens one environment for all tests of a file. Use it inside hooks and tests only. */
export function useTestEnvironment(): Pick<TestEnvironment, 'db' | 'redis' | 'prefix' | 'variables'> {
  return openForFile(openTestEnvironment, (environment) => environment.close());
}
