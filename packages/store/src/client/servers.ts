import { callbackify } from 'node:util';
import pg from 'pg';
import { readSqlState, UnusableDatabase } from './errors.js';
import type { Settings } from './settings.js';

/** Milliseconds to connect to a server, and for its response, while searching for the writable one. */
const SEARCH_MS_MAX = 3_000;

const ADDRESS = /^(\w+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([^?#]*)\??(.*)$/s;

type Server = Pick<pg.Client, 'host' | 'port'>;

/**
 * The servers in an address, such as `postgres://user@one:5432,two:5432/database`. With several, each new connection first probes all of
 * them, and uses the first that responds and accepts writes.
 */
export class Servers {
  readonly #configs: readonly pg.ClientConfig[];
  /** Whether to reject read-only servers: `target_session_attrs`, which is `read-write` by default for several servers. */
  readonly #needsWriter: boolean;
  #search: Promise<Server> | null = null;
  /** Whether the last new connection was refused for its user or password. */
  #isRefused = false;

  /** @param settings requested in the start-up packet of each connection, without another round trip */
  constructor(url: string, settings: Settings) {
    const [, before = '', hosts = '', path = '', query = ''] = ADDRESS.exec(url) ?? [];
    const parameters = new URLSearchParams(query);
    const isOne = !hosts.includes(',');
    this.#needsWriter = (parameters.get('target_session_attrs') ?? (isOne ? 'any' : 'read-write')) !== 'any';
    // If a setting occurs twice, PostgreSQL uses the last value.
    const options = `${parameters.get('options') ?? ''} ${toCommandLine(settings)}`;
    parameters.delete('options');
    this.#configs = hosts
      .split(',')
      .map((host) => ({ connectionString: `${before}${host}${path}?${parameters.toString()}`, options }));
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
      await this.#refuseReader(client);
      return { host: client.host, port: client.port };
    } finally {
      closeClient(client);
    }
  }

  /** Rejects read-only servers, because standbys also accept connections. */
  async #refuseReader(client: pg.Client): Promise<void> {
    if (!this.#needsWriter) return;
    const { rows } = await client.query<{ isReader: boolean }>(
      `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReader"`,
    );
    if (rows[0]?.isReader !== false) throw new Error('no server in DATABASE_URL accepts writes');
  }

  async #open(client: pg.Client, connect: () => Promise<unknown>): Promise<void> {
    try {
      if (this.#configs.length > 1) Object.assign(client, await this.#findServer());
      await connect();
      await this.#refuseReader(client);
      this.#isRefused = false;
    } catch (error) {
      if (/^28(?:P01|000)$/.test(readSqlState(error) ?? '')) this.#isRefused = true;
      closeClient(client);
      throw explainPoolerRejection(error as Error);
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

/** Closes a connection without waiting for it. */
function closeClient(client: pg.Client): void {
  client.end().catch(() => {});
}

/** Returns the error with the remedy, if a pooler refused settings; otherwise the same error. */
function explainPoolerRejection(error: Error): Error {
  // https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-proxy.html
  if (/^Feature not supported: RDS Proxy\b.*command-line options/.test(error.message))
    return new UnusableDatabase(
      'RDS Proxy rejects session settings: connect to PostgreSQL itself or to PgBouncer (see docs/managed-services.md#poolers)',
    );
  const refusal = /unsupported startup parameter\b.*/.exec(error.message)?.[0];
  return refusal === undefined
    ? error
    : new UnusableDatabase(
        `the pooler rejects session settings (${refusal}): set DATABASE_POOLER=transaction (see docs/operations.md#poolers); npm run migrate needs PostgreSQL’s own address in MIGRATE_DATABASE_URL`,
      );
}
