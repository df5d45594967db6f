import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisAddress } from './addresses.js';
import type { CommonConfig } from './config.js';

/** The time limit of a command. */
const ANSWER_MS_MAX = 2_000;

/** How long a command of a BullMQ consumer waits in Redis for a job: the default of BullMQ's `drainDelay`. */
const BLOCK_MS = 5_000;

const USES = {
  /** Commands fail fast instead of waiting for Redis. */
  enqueue: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX + 1_000,
  },
  /** Commands wait for Redis without limit. A connection that is silent for longer than a consumer blocks is replaced. */
  consume: {
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: BLOCK_MS + ANSWER_MS_MAX,
  },
} satisfies Record<string, RedisOptions>;

/** Environment variables of the connection to Redis. */
export type RedisConfig = Pick<CommonConfig, 'REDIS_URL' | 'QUEUE_PREFIX'>;

export type RedisConnection = Redis | Cluster;

/** The last error of each connection since it was last ready. */
const lastErrors = new WeakMap<RedisConnection, Error>();

/** Connects to Redis in the background. The connection is replaced whenever it breaks or its server has become a replica. */
export function connectRedis(config: RedisConfig, use: keyof typeof USES): RedisConnection {
  const connection = open(config, use);
  connection.on('ready', () => lastErrors.delete(connection));
  connection.on('error', (error: Error & { lastNodeError?: Error }) => {
    // The error of a cluster is general; `lastNodeError` holds the cause.
    const cause = error.lastNodeError ?? error;
    // A server without the command AUTH quotes its arguments, such as the password.
    cause.message = cause.message.replace(/, with args .*/s, '');
    lastErrors.set(connection, cause);
  });
  return connection;
}

function open({ REDIS_URL }: RedisConfig, use: keyof typeof USES): RedisConnection {
  const { kind, isTls, servers, user, master, db } = parseRedisAddress(REDIS_URL);
  const options = {
    ...USES[use],
    ...user,
    connectTimeout: 2_000,
    retryStrategy: (times: number) => Math.min(times * 50, 1_000),
    // After a fail-over, this server is a replica. A new connection finds the new master.
    reconnectOnError: ({ message }: Error) => /READONLY|^UNBLOCKED/.test(message),
    ...(isTls && { tls: {} }),
  };
  switch (kind) {
    case 'server':
      return new Redis({ ...options, ...servers[0], db });
    case 'cluster':
      return new Cluster(servers, {
        enableOfflineQueue: USES[use].enableOfflineQueue,
        // Host names are not resolved here, because TLS certificates contain them.
        dnsLookup: (host, callback) => callback(null, host),
        redisOptions: options,
      });
    case 'sentinel':
      return new Redis({
        ...options,
        sentinels: servers,
        name: master,
        db,
        ...(isTls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
        sentinelCommandTimeout: ANSWER_MS_MAX,
        // A sentinel without a password accepts any password of its default user.
        sentinelUsername: user.password && 'default',
        sentinelPassword: user.password,
      });
  }
}

/** Returns the prefix of the queues' keys. In a cluster it has braces, which keep all keys on one node, as BullMQ's scripts require. */
export function keyPrefix({ REDIS_URL, QUEUE_PREFIX }: RedisConfig): string {
  return parseRedisAddress(REDIS_URL).kind === 'cluster' ? `{${QUEUE_PREFIX}}` : QUEUE_PREFIX;
}

/**
 * Checks whether Redis is usable: a write with the prefix of the queues' keys, and the settings of each server that receives writes. A read
 * would not be enough: replicas and a Redis that is out of memory answer reads, and any node of a cluster answers a command without a key.
 * The write also causes ioredis to replace a connection to a replica.
 *
 * @param prefix of the keys, as `keyPrefix` returns it
 * @throws Error with Redis's own message if it rejects commands, or with the fault of the connection
 */
export async function checkRedis(connection: RedisConnection, prefix: string): Promise<void> {
  if (connection.status !== 'ready') throw lastErrors.get(connection) ?? new Error('Redis is not connected');
  const masters = connection instanceof Cluster ? connection.nodes('master') : [connection];
  const [, ...infos] = await Promise.all([
    connection.set(`${prefix}:ready`, '', 'PX', 1_000),
    ...masters.map((master) => master.info('memory')),
  ]);
  for (const info of infos) {
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
    if (policy !== 'noeviction')
      throw new Error(
        `REDIS_URL names a Redis with maxmemory-policy ${policy}, which deletes jobs: set it to noeviction`,
      );
  }
}
