import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { parseRedisAddress } from './address.js';

/** The time limit of a command. */
const ANSWER_MS_MAX = 2_000;

/**
 * The maximum time for which a consumer blocks while it waits for a job. Then it asks Redis again. If the connection is lost silently in
 * that time, the worker's loops do the work of the missed jobs.
 */
export const BLOCK_SECONDS_MAX = 5;

/** Returns the milliseconds before the next attempt to connect. */
const reconnectMs = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

const COMMON = {
  connectTimeout: 2_000,
  retryStrategy: reconnectMs,
  // After a fail-over, this server is a replica. A new connection finds the new master.
  reconnectOnError: ({ message }: Error) => /READONLY|^UNBLOCKED/.test(message),
} satisfies RedisOptions;

const USES = {
  /** Commands fail fast instead of waiting for Redis. */
  enqueue: {
    ...COMMON,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX + 1_000,
  },
  /** Commands wait for Redis without limit. A connection that is silent for longer than a consumer blocks is replaced. */
  consume: {
    ...COMMON,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    socketTimeout: BLOCK_SECONDS_MAX * 1_000 + ANSWER_MS_MAX,
  },
} satisfies Record<string, RedisOptions>;

export interface RedisSource {
  /** The value of REDIS_URL. */
  redisUrl: string;
  /** PEM certificates of the authorities that sign Redis's certificate. By default, Node's trusted authorities. */
  redisCa?: string;
}

export type RedisConnection = Redis | Cluster;

/** The last error of each connection since it was last ready. */
const lastErrors = new WeakMap<RedisConnection, Error>();

/** Connects to Redis in the background. The connection is replaced whenever it breaks or its server has become a replica. */
export function connectRedis(
  source: RedisSource,
  use: keyof typeof USES,
  onError: (error: Error) => void,
): RedisConnection {
  const connection = open(source, USES[use]);
  connection.on('ready', () => lastErrors.delete(connection));
  connection.on('error', (error: Error & { lastNodeError?: Error }) => {
    // The error of a cluster is general; `lastNodeError` holds the cause.
    lastErrors.set(connection, error.lastNodeError ?? error);
    onError(error);
  });
  return connection;
}

/** Returns the last error of a connection since it was last ready; undefined if there was none. */
export function lastErrorOf(connection: RedisConnection): Error | undefined {
  return lastErrors.get(connection);
}

function open(
  { redisUrl, redisCa = '' }: RedisSource,
  use: (typeof USES)[keyof typeof USES],
): RedisConnection {
  const address = parseRedisAddress(redisUrl);
  const tls = redisCa === '' ? {} : { ca: redisCa };
  const options = { ...use, ...(address.isTls && { tls }) };
  if (address.kind === 'server') return new Redis(address.url, options);
  const { servers, user } = address;
  if (address.kind === 'cluster')
    return new Cluster(servers, {
      enableOfflineQueue: options.enableOfflineQueue,
      clusterRetryStrategy: reconnectMs,
      slotsRefreshTimeout: ANSWER_MS_MAX,
      // Host names are not resolved here, because TLS certificates contain them.
      dnsLookup: (host, callback) => callback(null, host),
      redisOptions: { ...options, ...user },
    });
  return new Redis({
    ...options,
    ...user,
    sentinels: servers,
    name: address.master,
    db: address.db,
    ...(address.isTls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
    sentinelCommandTimeout: ANSWER_MS_MAX,
    sentinelRetryStrategy: reconnectMs,
    // A sentinel without a password accepts any password of its default user.
    ...(user.password !== undefined && { sentinelUsername: 'default', sentinelPassword: user.password }),
  });
}
