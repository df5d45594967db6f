import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector, Cluster, Redis, SentinelConnector, type RedisOptions } from 'ioredis';
import { parseRedisAddress, type RedisAddress } from './address.js';
import { errorFault, serverFault, type RedisInfo } from './faults.js';
import { findTlsMismatch } from './tlsMismatch.js';

/** How long Redis may take for an answer. */
export const ANSWER_MS_MAX = 2_000;

/** How long a consumer blocks for a job before it asks Redis again. */
export const BLOCK_SECONDS_MAX = 2;

/** Milliseconds before the next attempt to reach Redis. */
const reconnectMs = (times: number): number => Math.min(50 * 2 ** Math.min(times, 6), 1_000);

const COMMON = {
  connectTimeout: 2_000,
  // A fail-over has made our server a replica: the connection is replaced, and so finds the new master.
  reconnectOnError: ({ message }: Error) => /READONLY|^UNBLOCKED/.test(message),
} satisfies RedisOptions;

const USES = {
  /** Commands fail soon instead of waiting for Redis. */
  enqueue: {
    maxRetriesPerRequest: 1,
    commandTimeout: ANSWER_MS_MAX,
    socketTimeout: ANSWER_MS_MAX + 1_000,
    ...COMMON,
  },
  /**
   * Commands wait for Redis without limit. A connection without an answer for longer than a consumer ever blocks is dead, as after a
   * lost network path, and a new one replaces it.
   */
  consume: {
    maxRetriesPerRequest: null,
    socketTimeout: 2 * BLOCK_SECONDS_MAX * 1_000,
    ...COMMON,
  },
} satisfies Record<string, RedisOptions>;

export interface RedisSource {
  /** The value of REDIS_URL. */
  redisUrl: string;
  /** Certificates in PEM of the authorities that sign Redis's certificate; without them, those that Node trusts. */
  redisCa?: string;
}

/** What a connection reports. */
export interface RedisListeners {
  onError: (error: Error) => void;
  /** Redis cannot be used, for a reason that does not end by itself. The sentence begins with "REDIS_URL …". */
  onFault: (fault: string) => void;
}

export type RedisConnection = Redis | Cluster;

/**
 * Connects to Redis in the background, to the master that sentinels name, or to the nodes of a cluster. The connection is replaced
 * whenever it breaks, and never becomes ready on a sentinel, a replica, or a node of a cluster that is named as a single server.
 */
export function connectRedis(
  { redisUrl, redisCa }: RedisSource,
  use: keyof typeof USES,
  { onError, onFault }: RedisListeners,
): RedisConnection {
  const address = parseRedisAddress(redisUrl);
  const connection = open(address, redisCa ?? '', use, onFault);
  connection.on('error', (error: Error) => {
    const fault = errorFault(error);
    if (fault !== null) onFault(fault);
    onError(error);
  });
  return connection;
}

function open(
  address: RedisAddress,
  ca: string,
  use: keyof typeof USES,
  onFault: RedisListeners['onFault'],
): RedisConnection {
  const enableOfflineQueue = use === 'consume';
  const tls = address.isTls ? { tls: ca === '' ? {} : { ca } } : {};
  const options = { ...USES[use], ...tls };
  if (address.kind === 'server')
    return new Redis(address.url, {
      ...options,
      enableOfflineQueue,
      retryStrategy: reconnectMs,
      Connector: serverConnector('server', onFault),
    });
  const { nodes, username, password } = address;
  const user = { ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
  if (address.kind === 'cluster')
    return new Cluster([...nodes], {
      enableOfflineQueue,
      clusterRetryStrategy: reconnectMs,
      slotsRefreshTimeout: ANSWER_MS_MAX,
      // Names stay names, because certificates hold them.
      dnsLookup: (host, callback) => callback(null, host),
      redisOptions: { ...options, ...user, Connector: serverConnector('cluster', onFault) },
    });
  return new Redis({
    ...options,
    ...user,
    sentinels: [...nodes],
    name: address.master,
    db: address.db,
    ...(username !== undefined && { sentinelUsername: username }),
    ...(password !== undefined && { sentinelPassword: password }),
    enableTLSForSentinelMode: address.isTls,
    ...(tls.tls !== undefined && { sentinelTLS: tls.tls }),
    sentinelCommandTimeout: ANSWER_MS_MAX,
    sentinelRetryStrategy: reconnectMs,
    enableOfflineQueue,
    retryStrategy: reconnectMs,
    Connector: sentinelConnector(onFault),
  });
}

type Connector = new (options: unknown) => AbstractConnector;
type ServerOptions = Pick<RedisOptions, 'host' | 'port' | 'path' | 'family' | 'tls' | 'disconnectTimeout'>;

/** Connects to one server. ioredis asks `check` with the server's INFO before a connection becomes ready. */
function serverConnector(kind: 'server' | 'cluster', onFault: RedisListeners['onFault']): Connector {
  return class ServerConnector extends AbstractConnector {
    readonly #options: ServerOptions;

    constructor(options: unknown) {
      const { disconnectTimeout = ANSWER_MS_MAX } = options as ServerOptions;
      super(disconnectTimeout);
      this.#options = options as ServerOptions;
    }

    override async connect(): ReturnType<AbstractConnector['connect']> {
      this.connecting = true;
      const { host, port = 6379, path, family, tls } = this.#options;
      const where = path == null ? { host, port, ...(family !== undefined && { family }) } : { path };
      const stream = tls === undefined ? connectPlain(where) : connectTls({ ...where, ...tls });
      this.stream = stream;
      let hasSpoken = false;
      stream.once(tls === undefined ? 'data' : 'secureConnect', () => (hasSpoken = true));
      // A server that speaks only TLS, or none, ends the connection or says nothing at all.
      stream.once('close', async () => {
        if (hasSpoken || path != null) return;
        const fault = await findTlsMismatch({ host, port }, tls !== undefined);
        if (fault !== null) onFault(fault);
      });
      this.stream.once('error', (error) => {
        this.firstError = error;
        // A cluster says of a node that could not be reached only that its connection is closed.
        const fault = errorFault(error);
        if (fault !== null) onFault(fault);
      });
      return this.stream;
    }

    override check(info: RedisInfo): boolean {
      const fault = serverFault(info, kind);
      if (fault !== null) onFault(fault);
      return fault === null;
    }
  };
}

/**
 * Connects to the master that the sentinels name. They take the user and password of Redis or none: which of the two is found out by
 * trying.
 */
function sentinelConnector(onFault: RedisListeners['onFault']): Connector {
  return class extends SentinelConnector {
    readonly #user: { sentinelUsername?: string; sentinelPassword?: string };

    constructor(options: unknown) {
      super(options as ConstructorParameters<typeof SentinelConnector>[0]);
      const { sentinelUsername, sentinelPassword } = this.options;
      this.#user = {
        ...(sentinelUsername !== undefined && { sentinelUsername }),
        ...(sentinelPassword !== undefined && { sentinelPassword }),
      };
    }

    override connect(
      emit: Parameters<SentinelConnector['connect']>[0],
    ): ReturnType<SentinelConnector['connect']> {
      let hasTriedBoth = this.#user.sentinelPassword === undefined;
      let round = { errors: 0, unknownMasters: 0, isRetried: false };
      return super.connect(async (type, error) => {
        if (type === 'sentinelError') {
          round.errors += 1;
          if (/invalid reply: null|No such master/.test(error.message)) round.unknownMasters += 1;
          if (!hasTriedBoth && /WRONGPASS|NOAUTH|invalid password/.test(error.message)) {
            hasTriedBoth = true;
            round.isRetried = true;
            this.#changeUser();
          }
        }
        if (type !== 'error') return emit(type, error);
        // No sentinel helped: the round is over.
        const { errors, unknownMasters, isRetried } = round;
        round = { errors: 0, unknownMasters: 0, isRetried: false };
        if (isRetried) return;
        if (errors > 0 && unknownMasters === errors) onFault('names a master that its sentinels do not know');
        const fault = await this.#findTlsFault();
        if (fault !== null) onFault(fault);
        return emit(type, error);
      });
    }

    /** ioredis says of a sentinel that could not be reached only that its connection is closed. */
    async #findTlsFault(): Promise<string | null> {
      const { sentinels: [first] = [], sentinelTLS } = this.options;
      if (first?.host === undefined || first.port === undefined) return null;
      const mismatch = await findTlsMismatch(first, sentinelTLS !== undefined);
      if (mismatch !== null || sentinelTLS === undefined) return mismatch;
      const socket = connectTls({ host: first.host, port: first.port, ...sentinelTLS });
      return new Promise((resolve) => {
        const end = (fault: string | null): void => {
          socket.destroy();
          resolve(fault);
        };
        socket.setTimeout(ANSWER_MS_MAX, () => end(null));
        socket.once('secureConnect', () => end(null));
        socket.once('error', (error) => end(errorFault(error)));
      });
    }

    override check(info: RedisInfo): boolean {
      const fault = serverFault(info, 'sentinel');
      if (fault !== null) onFault(fault);
      return fault === null && super.check(info);
    }

    #changeUser(): void {
      this.options =
        this.options.sentinelPassword === undefined
          ? { ...this.options, ...this.#user }
          : { ...this.options, sentinelUsername: '', sentinelPassword: '' };
    }
  };
}
