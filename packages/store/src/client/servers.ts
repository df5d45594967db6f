import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { callbackify } from 'node:util';
import pg from 'pg';
import { isRefusal } from './connectionFaults.js';
import type { Settings } from './settings.js';
import { readingTimes } from './times.js';

/** The database must not be used as it is configured. The message is one line for operators, and holds no secret. */
export class UnusableDatabase extends Error {}

/** A statement got no answer in time, as when a firewall forgets a connection. The driver adapter takes it for a socket's time-out. */
class SilentConnection extends Error {
  readonly code = 'ETIMEDOUT';
  readonly errno = constants.errno.ETIMEDOUT;
  readonly syscall = 'read';
  override readonly message = 'the database does not answer';
}

/** Milliseconds to connect to each server of an address, and for its answer, when looking for the one that takes writes. */
const SEARCH_MS_MAX = 3_000;

const ADDRESS = /^(\w+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

/** The driver's client, with members that its types leave out. */
interface DriverClient extends pg.Client {
  /** The parameters of the start-up packet. */
  getStartupConf(): Record<string, string>;
  /** False while a statement waits for its answer. */
  readonly readyForQuery: boolean;
}
const DriverClient = pg.Client as unknown as new (config?: pg.ClientConfig) => DriverClient;

type Server = Pick<pg.Client, 'host' | 'port'>;

/**
 * The servers that an address names: `postgres://user@one:5432,two:5432/database`. The one that takes writes gets all connections. Among
 * several, it is searched for before the first connection and again whenever a connection fails.
 */
export class Servers {
  readonly #urls: readonly [string, ...string[]];
  /** Whether only a server that takes writes is used: `target_session_attrs`, which is `read-write` by default for several servers. */
  readonly #isWriter: boolean;
  #found: Promise<Server> | null = null;
  #isSearching = false;
  /** Whether the last new connection was refused for its user or password. */
  #isRefused = false;

  /** @param settings that each connection asks for in its start-up packet, which costs no round trip */
  constructor(
    url: string,
    private readonly settings: Settings,
  ) {
    const [, before = '', hosts = '', after = ''] = ADDRESS.exec(url) ?? [];
    const urls = hosts.split(',').map((host) => new URL(before + host + after));
    const attributes = urls[0]?.searchParams.get('target_session_attrs');
    this.#isWriter = (attributes ?? (urls.length > 1 ? 'read-write' : 'any')) !== 'any';
    for (const { searchParams } of urls) searchParams.delete('target_session_attrs');
    this.#urls = urls.map(({ href }) => href) as [string, ...string[]];
  }

  /** Tries a new connection if the last one was refused, which open ones hide. @throws the driver's error when it is refused again */
  async retryRefused(): Promise<void> {
    if (!this.#isRefused) return;
    try {
      await this.#search();
      this.#isRefused = false;
    } catch (error) {
      if (isRefusal(error)) throw error;
    }
  }

  /** Returns the server for a new connection; null where the address names only one. */
  #find(): Promise<Server> | null {
    if (this.#urls.length === 1) return null;
    const found = (this.#found ??= this.#search());
    found.catch(() => {
      if (this.#found === found) this.#found = null;
    });
    return found;
  }

  /** Until another server is found, new connections use the present one and do not wait for the search. */
  async #searchAgain(): Promise<void> {
    if (this.#urls.length === 1 || this.#isSearching) return;
    this.#isSearching = true;
    const found = await this.#search().catch(() => null);
    this.#found = found && Promise.resolve(found);
    this.#isSearching = false;
  }

  #search(): Promise<Server> {
    return Promise.any(this.#urls.map((url) => this.#probe(url))).catch((error: AggregateError) => {
      throw error.errors[0];
    });
  }

  async #probe(url: string): Promise<Server> {
    const client = new (clientWith(this.settings))({
      connectionString: url,
      connectionTimeoutMillis: SEARCH_MS_MAX,
      query_timeout: SEARCH_MS_MAX,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await this.#refuseReader(client);
      return { host: client.host, port: client.port };
    } finally {
      closeClient(client);
    }
  }

  /** A standby accepts connections too, and a server may become one at any time. */
  async #refuseReader(client: pg.Client): Promise<void> {
    if (!this.#isWriter) return;
    const { rows } = await client.query<{ isReader: boolean }>(
      `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReader"`,
    );
    if (rows[0]?.isReader !== false) throw new Error('no server of the address takes writes');
  }

  async #open(client: DriverClient, connect: () => Promise<unknown>, silentMs: number): Promise<void> {
    Object.assign(client, await this.#find());
    try {
      await connect();
      breakWhenSilent(client, silentMs);
      await this.#refuseReader(client);
      this.#isRefused = false;
    } catch (error) {
      if (isRefusal(error)) this.#isRefused = true;
      void this.#searchAgain();
      closeClient(client);
      throw explained(error as Error);
    }
  }

  /** Returns a class of clients for the driver's pool. Their `query_timeout` also closes the connection. */
  clientClass(): typeof pg.Client {
    const [connectionString] = this.#urls;
    const open = this.#open.bind(this);
    const searchAgain = this.#searchAgain.bind(this);
    class Client extends clientWith(this.settings) {
      readonly #silentMs: number;

      constructor({ query_timeout: silentMs = 0, ...config }: pg.ClientConfig = {}) {
        super({ ...config, connectionString });
        this.#silentMs = silentMs;
        // The pool listens only later: without a listener, a lost connection would end the process.
        this.on('error', () => void searchAgain());
      }

      override connect(): Promise<this>;
      override connect(callback: (error: Error) => void): void;
      override connect(callback?: (error: Error) => void): Promise<this> | void {
        const opened = async (): Promise<this> => {
          await open(this, () => super.connect(), this.#silentMs);
          return this;
        };
        if (callback === undefined) return opened();
        callbackify(opened)(callback);
      }

      override query(query: never, ...rest: never[]): never {
        return super.query(withTimes(query), ...rest) as never;
      }
    }
    return Client as unknown as typeof pg.Client;
  }
}

function clientWith(settings: Settings): typeof DriverClient {
  return class extends DriverClient {
    override getStartupConf(): Record<string, string> {
      return { ...super.getStartupConf(), ...settings };
    }
  };
}

/** The driver's own time-out of a statement would leave the connection, which still waits for the answer, to the next transaction. */
function breakWhenSilent(client: DriverClient, silentMs: number): void {
  const socket = client.connection.stream as Socket;
  socket.setTimeout(silentMs);
  // Emitted for idle connections too. The next write starts the time again.
  socket.on('timeout', () => {
    if (!client.readyForQuery) socket.destroy(new SilentConnection());
  });
}

/** Closes a connection without waiting for it. */
function closeClient(client: pg.Client): void {
  client.end().catch(() => {});
}

/** PgBouncer refuses start-up settings by this message, which names the first of them. */
function explained(error: Error): Error {
  const refusal = /unsupported startup parameter\b.*/.exec(error.message)?.[0];
  return refusal === undefined
    ? error
    : new UnusableDatabase(
        `the pooler refuses the settings of a session (${refusal}): set DATABASE_POOLER=transaction as docs/operations.md#poolers says; npm run migrate needs PostgreSQL itself, in MIGRATE_DATABASE_URL`,
      );
}

/** Prisma's adapter gives each query types of its own, which read times otherwise. */
function withTimes(query: unknown): never {
  const isConfig = typeof query === 'object' && query !== null && 'text' in query && !('submit' in query);
  return (isConfig ? { ...query, types: readingTimes((query as pg.QueryConfig).types) } : query) as never;
}
