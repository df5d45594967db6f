import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { callbackify } from 'node:util';
import pg from 'pg';
import { isRefusal } from './connectionFaults.js';
import type { Settings } from './settings.js';
import { readingTimes } from './times.js';

/** The database or its address is misconfigured. The message is one line for operators, without secrets. */
export class UnusableDatabase extends Error {}

/** A statement got no response in time, for example because a firewall dropped the connection. The adapter reports `SocketTimeout`. */
class SilentConnection extends Error {
  readonly code = 'ETIMEDOUT';
  readonly errno = constants.errno.ETIMEDOUT;
  readonly syscall = 'read';
  override readonly message = 'the database does not answer';
}

/** Milliseconds to connect to a server, and for its response, while searching for the writable one. */
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
 * The servers in an address, such as `postgres://user@one:5432,two:5432/database`. With several, all connections go to the writable one,
 * which is searched for before the first connection and again after each connection failure.
 */
export class Servers {
  readonly #urls: readonly [string, ...string[]];
  /** Whether to reject read-only servers: `target_session_attrs`, which is `read-write` by default for several servers. */
  readonly #needsWriter: boolean;
  #found: Promise<Server> | null = null;
  #isSearching = false;
  /** Whether the last new connection was refused for its user or password. */
  #isRefused = false;

  /** @param settings sent in the start-up packet of each connection, without another round trip */
  constructor(
    url: string,
    private readonly settings: Settings,
  ) {
    const [, before = '', hosts = '', after = ''] = ADDRESS.exec(url) ?? [];
    const urls = hosts.split(',').map((host) => new URL(before + host + after));
    const attributes = urls[0]?.searchParams.get('target_session_attrs');
    this.#needsWriter = (attributes ?? (urls.length > 1 ? 'read-write' : 'any')) !== 'any';
    for (const { searchParams } of urls) searchParams.delete('target_session_attrs');
    this.#urls = urls.map(({ href }) => href) as [string, ...string[]];
  }

  /** Opens a connection if the last new one was rejected for its user or password, which open ones hide. @throws if it is rejected again */
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

  /** Searches in the background: new connections use the last server meanwhile. Without a result, the next connection searches again. */
  async #searchAgain(): Promise<void> {
    if (this.#urls.length === 1 || this.#isSearching) return;
    this.#isSearching = true;
    const found = await this.#search().catch(() => null);
    this.#found = found && Promise.resolve(found);
    this.#isSearching = false;
  }

  #search(): Promise<Server> {
    return Promise.any(this.#urls.map((url) => this.#probe(url))).catch(({ errors }: AggregateError) => {
      throw explainPoolerRejection(errors[0] as Error);
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

  /** Rejects read-only servers: standbys accept connections too, and a server may become one at any time. */
  async #refuseReader(client: pg.Client): Promise<void> {
    if (!this.#needsWriter) return;
    const { rows } = await client.query<{ isReader: boolean }>(
      `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReader"`,
    );
    if (rows[0]?.isReader !== false) throw new Error('no server in DATABASE_URL accepts writes');
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
      throw explainPoolerRejection(error as Error);
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
        // The pool adds its listener after connecting. Without one, a lost connection would end the process.
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

/** Closes a connection whose statement got no response. The driver's own time-out would return it to the pool while it still waits. */
function breakWhenSilent(client: DriverClient, silentMs: number): void {
  const socket = client.connection.stream as Socket;
  socket.setTimeout(silentMs);
  // Emitted for idle connections too, which stay open. The next write restarts the timer.
  socket.on('timeout', () => {
    if (!client.readyForQuery) socket.destroy(new SilentConnection());
  });
}

/** Closes a connection without waiting for it. */
function closeClient(client: pg.Client): void {
  client.end().catch(() => {});
}

/** Replaces PgBouncer's "unsupported startup parameter" by an error that names the remedy. */
function explainPoolerRejection(error: Error): Error {
  const refusal = /unsupported startup parameter\b.*/.exec(error.message)?.[0];
  return refusal === undefined
    ? error
    : new UnusableDatabase(
        `the pooler refuses the settings of a session (${refusal}): set DATABASE_POOLER=transaction (see docs/operations.md#poolers); npm run migrate needs PostgreSQL itself, in MIGRATE_DATABASE_URL`,
      );
}

/** Adds our time parsers to a query, because Prisma's adapter passes its own with each one. */
function withTimes(query: unknown): never {
  const isConfig = typeof query === 'object' && query !== null && 'text' in query && !('submit' in query);
  return (isConfig ? { ...query, types: readingTimes((query as pg.QueryConfig).types) } : query) as never;
}
