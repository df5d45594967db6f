import { once } from 'node:events';
import { Cluster } from 'ioredis';
import { keyPrefix } from './address.js';
import { connectRedis, lastErrorOf, type RedisConnection, type RedisSource } from './connect.js';

/** Why Redis answers but accepts no writes. `unfit`: it cannot work with this REDIS_URL. */
type RedisRefusal = 'out_of_memory' | 'read_only' | 'disk' | 'unfit';

/** Thrown if Redis is reachable but not usable. */
export class RefusedByRedis extends Error {
  override readonly name = 'RefusedByRedis';
  constructor(
    readonly reason: RedisRefusal,
    message: string,
    /** Whether an operator has to end the condition. False for a condition that ends by itself, such as a fail-over. */
    readonly isLasting = reason === 'unfit',
  ) {
    super(message);
  }
}

/** Redis's error messages for refused commands. */
const REFUSALS: readonly [RegExp, RedisRefusal][] = [
  [/^OOM\b.*/, 'out_of_memory'],
  [/^(?:READONLY|NOREPLICAS|MASTERDOWN)\b.*/, 'read_only'],
  [/^MISCONF\b.*/, 'disk'],
  // ioredis prefixes the errors of sentinels. A command is unknown if the server is not of the kind that the address names.
  [
    /\b(?:NOPERM|NOAUTH|WRONGPASS|MOVED|ERR unknown command|ERR This instance has cluster support).*/,
    'unfit',
  ],
];

function refusalOf(error: Error): RefusedByRedis | null {
  for (const [pattern, reason] of REFUSALS) {
    const [words] = pattern.exec(error.message) ?? [];
    if (words !== undefined)
      return new RefusedByRedis(reason, `the Redis in REDIS_URL responds with ${words}`);
  }
  return null;
}

/** Checks the role and the settings of each server that receives writes. @throws RefusedByRedis, or Error without a response */
async function refuseUnfit(connection: RedisConnection): Promise<void> {
  const masters = connection instanceof Cluster ? connection.nodes('master') : [connection];
  for (const info of await Promise.all(masters.map((master) => master.info()))) {
    if (/^role:slave\b/m.test(info))
      throw new RefusedByRedis(
        'read_only',
        'REDIS_URL names a replica, which refuses writes: name its master, or the sentinels that know it',
        true,
      );
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
    if (policy !== 'noeviction')
      throw new RefusedByRedis(
        'unfit',
        `REDIS_URL names a Redis with maxmemory-policy ${policy}, which deletes jobs: set it to noeviction`,
      );
  }
}

/**
 * Checks whether Redis is usable: the settings of the server, and a write with the prefix of the queues' keys. A read would not be enough:
 * replicas and a Redis that is out of memory answer reads, and any node of a cluster answers a command without a key.
 *
 * @param prefix of the keys, as `keyPrefix` returns it
 * @throws RefusedByRedis if Redis answers but is not usable, Error if it does not answer
 */
export async function checkRedis(connection: RedisConnection, prefix: string): Promise<void> {
  if (connection.status !== 'ready') {
    const error = lastErrorOf(connection);
    if (error === undefined) throw new Error('Redis is not connected');
    throw refusalOf(error) ?? new Error(`Redis is not connected: ${error.message}`);
  }
  // The write also causes ioredis to replace a connection to a replica.
  const checks = [refuseUnfit(connection), connection.set(`${prefix}:ready`, '', 'PX', 1_000)];
  for (const result of await Promise.allSettled(checks))
    if (result.status === 'rejected') throw refusalOf(result.reason as Error) ?? result.reason;
}

const CONNECT_MS_MAX = 3_000;

/** Runs `checkRedis` on a new connection. @returns the error, or null */
export async function tryRedis(source: RedisSource, prefix: string): Promise<Error | null> {
  const connection = connectRedis(source, 'enqueue', () => {});
  try {
    await once(connection, 'ready', { signal: AbortSignal.timeout(CONNECT_MS_MAX) });
    await checkRedis(connection, keyPrefix(source.redisUrl, prefix));
    return null;
  } catch (error) {
    const cause = lastErrorOf(connection) ?? (error as Error);
    return refusalOf(cause) ?? cause;
  } finally {
    connection.disconnect();
  }
}
