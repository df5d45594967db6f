import { callbackify } from 'node:util';
import pg from 'pg';
import { readSqlState, UnusableDatabase } from './errors.js';
import type { Settings } from './settings.js';

/** Milliseconds to connect to a server, and for its response, while searching for the writable one. */
const SEARCH_MS_MAX = 3_000;

const ADDRESS = /^(\w+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

type Server = Pick<pg.Client, 'host' | 'port'>;

/**
 * The servers in an address, such as `postgres://user@one:5432,two:5432/database`. A new connection to a server that accepts no writes
 * fails. With several servers, it first probes all of them, and uses the first that responds and accepts writes.
 */
export class Servers {
  readonly #configs: readonly pg.ClientConfig[];
  #search: Promise<Server> | null = null;
  /** Whether the last new connection was refused for its user or password. */
  #isRefused = false;

  /** @param settings requested in the start-up packet of each connection, without another round trip */
  constructor(url: string, settings: Settings) {
    const [, before = '', hosts = '', after = ''] = ADDRESS.exec(url) ?? [];
    const options = toCommandLine(settings);
    this.#configs = hosts.split(',').map((host) => ({ connectionString: before + host + after, options }));
  }

  /**
   * Opens a connection if the server rejected the user or password of the last new one. Without this check, open connections would hide the
   * fault.
   * @throws if it fails
   */
  async retryRefused(): Promise<void> {
    if (!this.#isRefused) return;
    await this.#findServer();
    this.#isRefused = false;
  }

  /** Searches for the writable server. Connections that open at the same time share a search. */
  #findServer(): Promise<Server> {
    return (this.#search ??= Promise.any(this.#configs.map((config) => this.#probe(config)))
      .catch(({ errors }: AggregateError) => {
        throw errors[0];
      })
      .finally(() => (this.#search = null)));
  }

  async #probe(config: pg.ClientConfig): Promise<Server> {
    const limits = { connectionTimeoutMillis: SEARCH_MS_MAX, query_timeout: SEARCH_MS_MAX };
    const client = new pg.Client({ ...config, ...limits });
    client.on('error', () => {});
    try {
      await client.connect();
      await refuseReader(client);
      return { host: client.host, port: client.port };
    } finally {
      closeClient(client);
    }
  }

  async #open(client: pg.Client, connect: () => Promise<unknown>): Promise<void> {
    try {
      if (this.#configs.length > 1) Object.assign(client, await this.#findServer());
      await connect();
      await refuseReader(client);
      this.#isRefused = false;
    } catch (error) {
      if (/^28(?:P01|000)$/.test(readSqlState(error) ?? '')) this.#isRefused = true;
      closeClient(client);
      if (!/unsupported startup parameter/.test((error as Error).message)) throw error;
      throw new UnusableDatabase(
        'the pooler rejects session settings: set DATABASE_POOLER=transaction (docs/operations.md#poolers)',
      );
    }
  }

  /** Returns a class of clients that connect to the writable server, for the driver's pool. */
  clientClass(): typeof pg.Client {
    const [address] = this.#configs;
    const open = this.#open.bind(this);
    return class extends pg.Client {
      constructor(config: pg.ClientConfig = {}) {
        super({ ...config, ...address });
        // The pool adds its listener after connecting. Without one, a lost connection would end the process.
        this.on('error', () => {});
      }

      override connect(): Promise<this>;
      override connect(callback: (error: Error) => void): void;
      override connect(callback?: (error: Error) => void): Promise<this> | void {
        const opened = async (): Promise<this> => {
          await open(this, () => super.connect());
          return this;
        };
        if (callback === undefined) return opened();
        callbackify(opened)(callback);
      }
    };
  }
}

/** Returns settings in the form of PostgreSQL's command line, which the start-up packet's `options` take. */
function toCommandLine(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/** Rejects a read-only server, because standbys also accept connections. */
async function refuseReader(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ isReader: boolean }>(
    `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReader"`,
  );
  if (rows[0]?.isReader !== false)
    throw new UnusableDatabase(
      'no server in DATABASE_URL accepts writes: they are standbys, or default_transaction_read_only is on',
    );
}

/** Closes a connection without waiting for it. */
function closeClient(client: pg.Client): void {
  client.end().catch(() => {});
}
