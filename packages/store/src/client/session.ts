import { callbackify } from 'node:util';
import pg from 'pg';
import { connectionError, UnusableDatabase, type Servers } from './servers.js';
import { readingTimes } from './times.js';

/**
 * What stands between this process and PostgreSQL: nothing, a pooler that gives each connection a session of its own, or one that gives
 * each transaction any session.
 */
export type Pooler = 'none' | 'session' | 'transaction';

/** What every connection of a pool is like. */
export interface SessionOptions {
  servers: Servers;
  pooler: Pooler;
  /** What a session has set, besides its time zone. */
  settings: Readonly<Record<string, string>>;
  /** Called with the settings that the sessions of a pooler in transaction mode lack: only its operator can set them. */
  onMissingSettings?: (names: string[]) => void;
}

/**
 * Parameters by themselves at the start, since a pooler that shares sessions keeps these for each of its clients. Statements that say
 * a day or a time without an offset mean UTC.
 */
const TIME_SETTINGS = { TimeZone: 'UTC', DateStyle: 'ISO' };

/** How long a server may take to say whether it takes writes. */
const PROBE_MS_MAX = 2_000;

/** A named statement whose name no other session has, unless a pooler passes names on. */
const PROBE: pg.QueryConfig = {
  name: 'onecode_probe',
  text: `select exists (select from pg_prepared_statements where name = 'onecode_probe') as "isNamed"`,
};

interface SessionState {
  timeZone: string;
  dateStyle: string;
  isReadOnly: boolean;
  pid: number;
  missing: string[];
}

/**
 * A class of connections for a pool. Each is checked before its first use, within the time that the pool gives it to connect: one that
 * is not in UTC, or would lose our settings or statements, is closed.
 */
export function sessionClient(options: SessionOptions): typeof pg.Client {
  const { servers, pooler, settings } = options;
  const known = settingsText(pooler === 'none' ? settings : {});
  const startOptions = [servers.options, known].filter(Boolean).join(' ');
  const picker = createServerPicker(options);

  return class SessionClient extends pg.Client {
    constructor(config: pg.ClientConfig = {}) {
      super({ ...config, connectionString: servers.urls[0], ...(startOptions && { options: startOptions }) });
    }

    /** The parameters of the start, which the driver builds. */
    getStartupConf(): Record<string, string> {
      const base = Object.getPrototypeOf(SessionClient.prototype) as {
        getStartupConf(): Record<string, string>;
      };
      return { ...base.getStartupConf.call(this), ...TIME_SETTINGS };
    }

    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | void {
      if (callback === undefined) return this.#open().then(() => this);
      callbackify(() => this.#open())(callback);
    }

    async #open(): Promise<void> {
      Object.assign(this, await picker.pick());
      // Between the connection and the pool's own listener nobody else would hear of a lost connection.
      const ignoreError = (): void => {};
      this.on('error', ignoreError);
      try {
        await super.connect();
        await prepareSession(this, options);
      } catch (error) {
        picker.forget();
        this.end().catch(ignoreError);
        throw connectionError(error);
      }
      this.off('error', ignoreError);
    }

    override query(query: never, ...rest: never[]): never {
      return super.query(withTimes(query), ...rest) as never;
    }
  };
}

function withTimes(query: unknown): never {
  const isConfig = typeof query === 'object' && query !== null && 'text' in query && !('submit' in query);
  return (isConfig ? { ...query, types: readingTimes((query as pg.QueryConfig).types) } : query) as never;
}

async function prepareSession(client: pg.Client, options: SessionOptions): Promise<void> {
  const { pooler, settings, servers } = options;
  if (pooler === 'session') await client.query(setStatement({ ...TIME_SETTINGS, ...settings }));
  const { rows } = await client.query<SessionState>(stateStatement(settings));
  const state = rows[0] as SessionState;
  if (!/^(?:Etc\/)?UTC$/.test(state.timeZone) || !state.dateStyle.startsWith('ISO'))
    throw new UnusableDatabase(
      `sessions have TimeZone ${state.timeZone} and DateStyle ${state.dateStyle}, which a pooler does not let us change: they must be UTC and ISO`,
    );
  if (servers.isWriter && state.isReadOnly)
    throw new Error('the server that was reached takes no writes: it is a standby');
  if (pooler === 'transaction') {
    if (state.missing.length > 0) options.onMissingSettings?.(state.missing);
    await refuseLostStatements(client, state.pid);
  } else if (state.missing.length > 0)
    throw new UnusableDatabase(
      'a pooler drops our start-up parameters: set DATABASE_POOLER to session or transaction, as its pool_mode is',
    );
  else if (pooler === 'none' && !isServedBy(client, state.pid))
    // Its sessions may have all settings, and yet mix up the statements of its clients.
    throw new UnusableDatabase(
      'a pooler is in the way: set DATABASE_POOLER to session or transaction, as its pool_mode is',
    );
}

/** Whether the process that PostgreSQL named at the start of this connection serves its session; a pooler names another one. */
function isServedBy(client: pg.Client, pid: number): boolean {
  return (client as unknown as { processID: number }).processID === pid;
}

/**
 * A pooler that shares sessions and passes the names of prepared statements on would mix up those of its clients. PostgreSQL itself
 * tells the process that really serves the session.
 */
async function refuseLostStatements(client: pg.Client, pid: number): Promise<void> {
  const isNamed = await client.query<{ isNamed: boolean }>(PROBE).then(
    ({ rows }) => rows[0]?.isNamed === true,
    (error: { code?: string }) => {
      // The name was left in a session by another client.
      if (error.code === '42P05') return true;
      throw error;
    },
  );
  if (isNamed && !isServedBy(client, pid))
    throw new UnusableDatabase(
      'the pooler does not keep prepared statements: DATABASE_POOLER=transaction needs PgBouncer 1.21 or newer in transaction mode, with max_prepared_statements above 0',
    );
}

/** @returns the server's host and port for the next connection; nothing where there is one only */
function createServerPicker({ servers }: SessionOptions): {
  pick(): Promise<Partial<pg.ClientConfig>>;
  forget(): void;
} {
  let found: Promise<Partial<pg.ClientConfig>> | undefined;
  return {
    async pick() {
      if (servers.urls.length === 1) return {};
      found ??= Promise.any(servers.urls.map((url) => probe(url, servers)));
      try {
        return await found;
      } catch (error) {
        found = undefined;
        // As the driver says it of one server.
        throw connectionError((error as AggregateError).errors[0]);
      }
    },
    forget() {
      found = undefined;
    },
  };
}

/** @throws when the server is away, or takes no writes and has to */
async function probe(connectionString: string, { isWriter }: Servers): Promise<Partial<pg.ClientConfig>> {
  const client = new pg.Client({
    connectionString,
    connectionTimeoutMillis: PROBE_MS_MAX,
    query_timeout: PROBE_MS_MAX,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<SessionState>(stateStatement({}));
    if (isWriter && rows[0]?.isReadOnly !== false) throw new Error('no server of the address takes writes');
    return { host: client.host, port: client.port };
  } finally {
    client.end().catch(() => {});
  }
}

const settingsText = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

function setStatement(settings: Readonly<Record<string, string>>): string {
  const calls = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`);
  return `select ${calls.join(', ')}`;
}

/** An operator may bound statements otherwise than we do. */
function stateStatement(settings: Readonly<Record<string, string>>): string {
  const wanted = Object.entries(settings).map(([name, value]) =>
    name.endsWith('_timeout') && value !== '0'
      ? `('${name}', current_setting('${name}') <> '0')`
      : `('${name}', current_setting('${name}') = '${value}')`,
  );
  const missing =
    wanted.length === 0
      ? `'{}'::text[]`
      : `array(select name from (values ${wanted.join(', ')}) wanted(name, is_set) where not is_set)`;
  return `select current_setting('TimeZone') as "timeZone", current_setting('DateStyle') as "dateStyle",
    pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
    pg_backend_pid() as pid, ${missing} as missing`;
}

/** How often two connections are compared: other clients of a pooler take sessions in between. */
const COMPARISONS = 10;

/**
 * Whether a pooler gives one session to several connections. Two are made and closed, which set nothing but their time zone: a setting
 * would stay in sessions that belong to others.
 */
export async function sharesSessions(servers: Servers): Promise<boolean> {
  const Client = sessionClient({ servers, pooler: 'session', settings: {} });
  const config = { connectionTimeoutMillis: PROBE_MS_MAX, query_timeout: PROBE_MS_MAX };
  const [one, two] = [new Client(config), new Client(config)];
  try {
    for (const client of [one, two]) await client.on('error', () => {}).connect();
    const own = await sessionOf(one);
    for (let n = 0; n < COMPARISONS; n += 1) {
      // While this transaction keeps a session, the other connection gets a different one, unless it has its own.
      await two.query('begin');
      const isSame = (await sessionOf(two)) === own || (await sessionOf(one)) !== own;
      await two.query('rollback');
      if (isSame) return true;
    }
    return false;
  } finally {
    await Promise.all([one, two].map((client) => client.end().catch(() => {})));
  }
}

async function sessionOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}
