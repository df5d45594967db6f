import { callbackify } from 'node:util';
import pg from 'pg';
import { UnusableDatabase } from './errors.js';

/** Milliseconds to connect to a server, and for its response, while searching for the writable one. */
const SEARCH_MS_MAX = 3_000;

const ADDRESS = /^(\w+:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

/**
 * Opens a pool of connections to the server in an address. A new connection to a server that accepts no writes fails. If the address names
 * several servers, such as `postgres://user@one:5432,two:5432/database`, each new connection first probes all of them, and uses the first
 * that responds and accepts writes.
 *
 * @param settings requested in the start-up packet of each connection, without another round trip
 */
export function openPool(
  url: string,
  settings: Readonly<Record<string, string>>,
  options: pg.PoolConfig,
): pg.Pool {
  const [, before = '', hosts = '', after = ''] = ADDRESS.exec(url) ?? [];
  const servers = hosts
    .split(',')
    .map((host) => ({ connectionString: before + host + after, options: toCommandLine(settings) }));
  const pool = new pg.Pool({
    ...options,
    ...servers[0],
    ...(servers.length > 1 && { Client: searchingClient(servers) }),
    verify: callbackify(refuseReader),
  });
  // Without a listener, a connection that breaks while it is verified would end the process.
  return pool.on('connect', (client) => client.on('error', () => {}));
}

/** Returns a class of clients that search for the writable server before they connect. Clients that open together share a search. */
function searchingClient(servers: readonly pg.ClientConfig[]): typeof pg.Client {
  let search: Promise<Pick<pg.Client, 'host' | 'port'>> | null = null;
  const findServer = () =>
    (search ??= Promise.any(servers.map(probe))
      .catch(({ errors }: AggregateError) => {
        throw errors[0];
      })
      .finally(() => (search = null)));

  return class extends pg.Client {
    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | void {
      const opened = async (): Promise<this> => {
        Object.assign(this, await findServer());
        await super.connect();
        return this;
      };
      if (callback === undefined) return opened();
      callbackify(opened)(callback);
    }
  };
}

/** Returns the host and port of a server if it responds and accepts writes. */
async function probe(server: pg.ClientConfig): Promise<Pick<pg.Client, 'host' | 'port'>> {
  const limits = { connectionTimeoutMillis: SEARCH_MS_MAX, query_timeout: SEARCH_MS_MAX };
  const client = new pg.Client({ ...server, ...limits });
  client.on('error', () => {});
  try {
    await client.connect();
    await refuseReader(client);
    return { host: client.host, port: client.port };
  } finally {
    client.end().catch(() => {});
  }
}

/** Rejects a read-only server, because standbys also accept connections. */
async function refuseReader(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isReader: boolean }>(
    `select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReader"`,
  );
  if (rows[0]?.isReader !== false)
    throw new UnusableDatabase(
      'no server in DATABASE_URL accepts writes: they are standbys, or default_transaction_read_only is on',
    );
}

/** Returns settings in the form of PostgreSQL's command line, which the start-up packet's `options` take. */
function toCommandLine(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ');
}

/** Closes the idle connections of a pool. The driver has no function for this, so each one is taken and released as broken. */
export function closeIdle(pool: pg.Pool): void {
  for (let count = pool.idleCount; count > 0; count -= 1)
    pool.connect().then(
      (client) => client.release(true),
      () => {},
    );
}
