import { Cluster, Redis, SentinelConnector, type RedisOptions } from 'ioredis';
import { parseRedisAddress } from './address.js';

/** How long Redis may take for an answer. */
const ANSWER_MS_MAX = 2_000;

/** How long a consumer blocks for a job before it asks Redis again. */
export const BLOCK_SECONDS_MAX = 5;

/** Milliseconds before the next attempt to reach Redis. */
const reconnectMs = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

const COMMON = {
  connectTimeout: 2_000,
  retryStrategy: reconnectMs,
  // A fail-over has made our server a replica: the connection is replaced, and so finds the new master.
  reconnectOnError: ({ message }: Error) => /READONLY|^UNBLOCKED/.test(message),
} satisfies RedisOptions;

const USES = {
  /** Commands fail soon instead of waiting for Redis. */
  enqueue: {
    ...COMMON,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX + 1_000,
  },
  /** Commands wait for Redis without limit. A connection that is silent for longer than a consumer ever blocks is replaced. */
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
  /** Certificates in PEM of the authorities that sign Redis's certificate; without them, those that Node trusts. */
  redisCa?: string;
}

export type RedisConnection = Redis | Cluster;

/** Why a connection is not ready: the last error since it was. */
const lastErrors = new WeakMap<RedisConnection, Error>();

/** Connects to Redis in the background. The connection is replaced whenever it breaks, or leads to a replica. */
export function connectRedis(
  source: RedisSource,
  use: keyof typeof USES,
  onError: (error: Error) => void,
): RedisConnection {
  const connection = open(source, USES[use]);
  connection.on('ready', () => lastErrors.delete(connection));
  connection.on('error', (error: Error & { lastNodeError?: Error }) => {
    // A cluster says that no node helped, and beside it what the last one said.
    lastErrors.set(connection, error.lastNodeError ?? error);
    onError(error);
  });
  return connection;
}

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
  const { nodes, username, password } = address;
  const user = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  if (address.kind === 'cluster')
    return new Cluster([...nodes], {
      enableOfflineQueue: options.enableOfflineQueue,
      clusterRetryStrategy: reconnectMs,
      slotsRefreshTimeout: ANSWER_MS_MAX,
      // Names stay names, because certificates hold them.
      dnsLookup: (host, callback) => callback(null, host),
      redisOptions: { ...options, ...user },
    });
  return new Redis({
    ...options,
    ...user,
    sentinels: [...nodes],
    name: address.master,
    db: address.db,
    ...(address.isTls && { enableTLSForSentinelMode: true, sentinelTLS: tls }),
    sentinelCommandTimeout: ANSWER_MS_MAX,
    sentinelRetryStrategy: reconnectMs,
    Connector: sentinelConnector({ sentinelUsername: username, sentinelPassword: password }),
  });
}

/** Sentinels have no password, or the user and password of Redis: they are asked without, and with it once one wants it. */
function sentinelConnector(user: Record<'sentinelUsername' | 'sentinelPassword', string | undefined>) {
  class Connector extends SentinelConnector {
    override connect(
      emit: Parameters<SentinelConnector['connect']>[0],
    ): ReturnType<SentinelConnector['connect']> {
      let isAskedAgain = false;
      return super.connect((type, error) => {
        const { sentinelPassword } = this.options;
        if (/NOAUTH/.test(error.message) && sentinelPassword !== user.sentinelPassword) {
          this.options = { ...this.options, ...user };
          isAskedAgain = true;
        }
        // The end of a round in which none was asked with the password.
        if (type === 'error' && isAskedAgain) isAskedAgain = false;
        else emit(type, error);
      });
    }
  }
  return Connector as new (options: unknown) => SentinelConnector;
}
