import type { Socket } from 'node:net';
import type { Send } from '@onecode/domain';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';
import { closeIdle, openPool } from './servers.js';
import { FIXED_SETTINGS, POOLED_SETTINGS, UNBOUNDED_SETTINGS, type Settings } from './settings.js';
import { poolSql, statementName, prismaSql, type Sql } from './sql.js';

/** Runs statements: all in one transaction or, if it is a `Database`, each in its own. */
export interface Connection {
  /** Prisma's models, for statements off the hot path. */
  readonly prisma: Prisma.TransactionClient;
  readonly sql: Sql;
}

/** The database of a process. */
export interface Database extends Connection {
  readonly prisma: PrismaClient;
  /** Runs `work` in a transaction, and rolls it back if `work` throws. `timeout` is in milliseconds. */
  transaction<R>(work: (connection: Connection) => Promise<R>, options?: { timeout: number }): Promise<R>;
  readonly pool: pg.Pool;
  readonly onDelivery: (before: Send, after: Send) => void;
}

export interface DatabaseOptions {
  connectionsMax: number;
  /**
   * `transaction` if the address leads to a pooler, which rejects or drops session settings. The pooler or the role's defaults must then
   * set those of `FIXED_SETTINGS` and `sessionSettings`.
   */
  pooler?: 'none' | 'transaction';
  /**
   * For processes that look up rows and never scan a table. A statement prepared while a table is small would scan it, and keep that plan
   * after the table has grown. Therefore, sequential and bitmap scans, hash joins and merge joins are off, joins run in the written order,
   * and each connection plans a statement once.
   */
  byIndexOnly?: boolean;
  /** Milliseconds to wait for a connection (default 3,000) and for a statement or transaction (default 5,000). */
  timeouts?: typeof TIMEOUTS;
  /** Called for each committed change of a send's delivery by this process. */
  onDelivery?: (before: Send, after: Send) => void;
  /** Called when an idle connection, or one in a transaction, breaks. The pool replaces it. */
  onConnectionError?: (error: Error) => void;
}

const TIMEOUTS = { connectionMs: 3_000, statementMs: 5_000 };
const IDLE_MS_MAX = 60_000;
/** Milliseconds between the statement time-out and closing the connection as silent. */
const SILENT_AFTER_MS = 500;

/** Opens the pool, which connects at the first query. @param url may name several servers, see `openPool` */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { timeouts = TIMEOUTS, onConnectionError = () => {} } = options;
  const settings =
    options.pooler === 'transaction'
      ? POOLED_SETTINGS
      : { ...POOLED_SETTINGS, ...FIXED_SETTINGS, ...sessionSettings(options) };
  const pool = openPool(url, settings, {
    max: options.connectionsMax,
    connectionTimeoutMillis: timeouts.connectionMs,
    // Longer than the pauses of a process's loops: opening a connection costs PostgreSQL as much as many statements.
    idleTimeoutMillis: IDLE_MS_MAX,
    keepAlive: true,
  });
  pool.on('error', onConnectionError);
  closeSilentConnections(pool, timeouts.statementMs + SILENT_AFTER_MS);
  const prisma = new PrismaClient({
    // Without names, PostgreSQL parses and plans every statement again (30–45% slower).
    adapter: new PrismaPg(pool, {
      statementNameGenerator: ({ sql }) => statementName(sql),
      onConnectionError,
    }),
    // The other formats capture a stack trace for every query.
    errorFormat: 'minimal',
    // Waits longer than the pool, because the pool's error is more specific.
    transactionOptions: { maxWait: timeouts.connectionMs + 2_000, timeout: timeouts.statementMs },
  });
  return {
    prisma,
    sql: poolSql(pool),
    transaction: (work, options) =>
      prisma.$transaction((client) => work({ prisma: client, sql: prismaSql(client) }), options),
    pool,
    onDelivery: options.onDelivery ?? (() => {}),
  };
}

/**
 * Closes connections on which a statement gets no response, for example because a firewall dropped them. Also closes all idle connections,
 * because a firewall usually drops all of them together. The driver's `query_timeout` would return the connection of a transaction to the
 * pool while it still waits for its response.
 */
function closeSilentConnections(pool: pg.Pool, silentMs: number): void {
  const socketOf = (client: pg.Client): Socket => client.connection.stream as Socket;
  pool.on('connect', (client) => {
    const socket = socketOf(client);
    socket.on('timeout', () => {
      socket.destroy(Object.assign(new Error('the database does not respond'), { code: 'ETIMEDOUT' }));
    });
  });
  pool.on('acquire', (client) => socketOf(client).setTimeout(silentMs));
  pool.on('release', (error: unknown, client) => {
    socketOf(client).setTimeout(0);
    if (error instanceof Error && !(error instanceof pg.DatabaseError)) closeIdle(pool);
  });
}

/** Returns the settings of a process's sessions in addition to `FIXED_SETTINGS`: time-outs, and how statements are planned. */
export function sessionSettings({
  timeouts: { statementMs } = TIMEOUTS,
  byIndexOnly = false,
}: Pick<DatabaseOptions, 'timeouts' | 'byIndexOnly'>): Settings {
  return {
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(statementMs),
    ...UNBOUNDED_SETTINGS,
    // Compiling one of our statements would take longer than running it.
    jit: 'off',
    ...(byIndexOnly && {
      enable_seqscan: 'off',
      enable_bitmapscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
      join_collapse_limit: '1',
      plan_cache_mode: 'force_generic_plan',
    }),
  };
}

/** Closes the pool after running queries finish. */
export async function closeDatabase({ prisma, pool }: Database): Promise<void> {
  await prisma.$disconnect();
  await pool.end();
}

/** Checks that PostgreSQL responds. @throws the error of the connection or the statement */
export async function pingDatabase({ sql }: Pick<Database, 'sql'>): Promise<void> {
  await sql.query`select 1`;
}
