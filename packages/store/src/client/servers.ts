import { callbackify } from 'node:util';
import pg from 'pg';
import { closeClient, openClient, SettingsClient } from './connection.js';
import { isRefusal } from './connectionFaults.js';
import { findPooler, UnusableDatabase, type Pooler } from './poolers.js';
import {
  applySettings,
  findMissing,
  findSettingsFault,
  FIXED_SETTINGS,
  knownSettings,
  POOLED_SETTINGS,
  type Settings,
} from './settings.js';
import { readingTimes } from './times.js';

/** The server that connections lead to, and what it takes at their start. */
interface Server {
  host: string;
  port: number;
  settings: Settings;
}

const ADDRESS = /^(\w+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

/**
 * The servers that an address names: `postgres://user@one:5432,two:5432/database`. The one that takes writes gets all connections; it is
 * looked for before the first one, and among several again whenever a connection fails.
 */
export class Servers {
  readonly #urls: readonly [string, ...string[]];
  /** Whether only a server will do that takes writes: `target_session_attrs`, which several servers have without being told. */
  readonly #isWriter: boolean;
  #found: Promise<Server> | null = null;
  #isSearching = false;
  /** Whether the last new connection was refused for its user or password. */
  #isRefused = false;
  #pooler: Pooler | null = null;
  readonly #all: Settings;

  /**
   * @param settings that every session has in addition to the fixed ones
   * @param onMissingSettings is called with those that sessions behind a pooler lack: only its operator can set them
   */
  constructor(
    url: string,
    private readonly settings: Settings,
    private readonly onMissingSettings: (names: string[]) => void = () => {},
  ) {
    const [, before = '', hosts = '', after = ''] = ADDRESS.exec(url) ?? [];
    const urls = hosts.split(',').map((host) => new URL(before + host + after));
    const attributes = urls[0]?.searchParams.get('target_session_attrs');
    this.#isWriter = (attributes ?? (urls.length > 1 ? 'read-write' : 'any')) !== 'any';
    for (const { searchParams } of urls) searchParams.delete('target_session_attrs');
    this.#urls = urls.map(({ href }) => href) as [string, ...string[]];
    this.#all = { ...POOLED_SETTINGS, ...FIXED_SETTINGS, ...settings };
  }

  /** @throws UnusableDatabase when statements would not mean what they say there, or the driver's error when no server can be used now */
  async findPooler(): Promise<Pooler> {
    await this.#find();
    return this.#pooler as Pooler;
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

  #find(): Promise<Server> {
    const found = (this.#found ??= this.#search());
    found.catch(() => {
      if (this.#found === found) this.#found = null;
    });
    return found;
  }

  /** Until another server is found, new connections go where they went: none waits for a search. */
  async #searchAgain(): Promise<void> {
    if (this.#urls.length === 1 || this.#isSearching) return;
    this.#isSearching = true;
    const found = await this.#search().catch(() => null);
    this.#found = found && Promise.resolve(found);
    this.#isSearching = false;
  }

  async #search(): Promise<Server> {
    try {
      return await Promise.any(this.#urls.map((url) => this.#probe(url)));
    } catch (error) {
      const { errors } = error as AggregateError;
      throw errors.find((one) => one instanceof UnusableDatabase) ?? errors[0];
    }
  }

  async #probe(url: string): Promise<Server> {
    const client = await openClient(url, knownSettings(this.#all, 0)).catch((error: Error) => {
      if (!/unsupported startup parameter/.test(error.message)) throw error;
      return openClient(url, POOLED_SETTINGS);
    });
    try {
      await this.#refuseReader(client);
      if (this.#pooler === null) await this.#examine(url, client);
      const { host, port, settings, serverVersion } = client;
      const isPooled = settings === POOLED_SETTINGS;
      return { host, port, settings: isPooled ? settings : knownSettings(this.#all, serverVersion) };
    } finally {
      closeClient(client);
    }
  }

  async #examine(url: string, client: SettingsClient): Promise<void> {
    const pooler = await findPooler(client, () => openClient(url, POOLED_SETTINGS));
    if (pooler === 'session') await this.#apply(client);
    const fault = await findSettingsFault(client);
    if (fault !== null) throw new UnusableDatabase(fault);
    // Nothing may be set on a session that others share.
    const missing = pooler === 'transaction' ? await findMissing(client, this.settings) : [];
    if (missing.length > 0) this.onMissingSettings(missing);
    this.#pooler = pooler;
  }

  async #apply(client: SettingsClient): Promise<void> {
    await applySettings(client, knownSettings(this.#all, client.serverVersion));
  }

  /** A standby takes connections too: the server may have become one since it was found. */
  async #refuseReader(client: pg.Client): Promise<void> {
    if (!this.#isWriter) return;
    const { rows } = await client.query<{ isReader: boolean }>(
      `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReader"`,
    );
    if (rows[0]?.isReader !== false) throw new Error('no server of the address takes writes');
  }

  clientClass(): typeof pg.Client {
    const [connectionString] = this.#urls;
    const find = () => this.#find();
    const searchAgain = () => this.#searchAgain();
    const noteRefusal = (isRefused: boolean) => (this.#isRefused = isRefused);
    const prepare = async (client: SettingsClient) => {
      await this.#refuseReader(client);
      if (this.#pooler === 'session') await this.#apply(client);
    };
    class Client extends SettingsClient {
      constructor(config: pg.ClientConfig = {}) {
        super({ ...config, connectionString });
        // Between the connection and the pool's own listener nobody else would hear of a lost connection.
        this.on('error', () => void searchAgain());
      }

      override connect(): Promise<this>;
      override connect(callback: (error: Error) => void): void;
      override connect(callback?: (error: Error) => void): Promise<this> | void {
        if (callback === undefined) return this.#open();
        callbackify(() => this.#open())(callback);
      }

      async #open(): Promise<this> {
        Object.assign(this, await find());
        try {
          await super.connect();
          await prepare(this);
          noteRefusal(false);
          return this;
        } catch (error) {
          if (isRefusal(error)) noteRefusal(true);
          void searchAgain();
          closeClient(this);
          throw error;
        }
      }

      override query(query: never, ...rest: never[]): never {
        return super.query(withTimes(query), ...rest) as never;
      }
    }
    return Client as unknown as typeof pg.Client;
  }
}

/** Prisma's adapter gives each query types of its own, which read times otherwise. */
function withTimes(query: unknown): never {
  const isConfig = typeof query === 'object' && query !== null && 'text' in query && !('submit' in query);
  return (isConfig ? { ...query, types: readingTimes((query as pg.QueryConfig).types) } : query) as never;
}
