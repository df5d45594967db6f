import { hash } from 'node:crypto';
import type { DeliveryFacts } from '@onecode/domain';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';
import { connectionFault } from './connectionFaults.js';
import { Servers } from './servers.js';
import { FIXED_SETTINGS, POOLED_SETTINGS, UNBOUNDED_SETTINGS, type Settings } from './settings.js';
import { adapterSql, transactionSql, type Sql } from './sql.js';
import { writingTimes } from './times.js';

/** A handle on one transaction. A `Database` is one too, each of whose statements is a transaction by itself. */
export interface Connection {
  /** Prisma's models, for whatever is not hot. */
  readonly prisma: Prisma.TransactionClient;
  readonly sql: Sql;
}

/** The one handle on PostgreSQL that every function of this package takes first. */
export interface Database extends Connection {
  readonly prisma: PrismaClient;
  /** Runs `work` in one transaction, which is rolled back when it throws. Milliseconds as Prisma takes them. */
  transaction<R>(
    work: (connection: Connection) => Promise<R>,
    options?: { maxWait?: number; timeout?: number },
  ): Promise<R>;
  readonly pool: pg.Pool;
  readonly servers: Servers;
  readonly onDelivery: (before: DeliveryFacts, after: DeliveryFacts) => void;
}

export interface DatabaseOptions {
  connectionsMax: number;
  /**
   * `transaction` if the address leads to a pooler in transaction mode, where nothing may be set on a session: the pooler, or the
   * defaults of the role, must set what `sessionSettings` has.
   */
  pooler?: 'none' | 'transaction';
  /**
   * For processes that look rows up and never scan a table. A prepared statement that was planned while a table was small would scan
   * it, and keep that plan until statistics come, which may be long after the table has grown. So scans are off, joins go in the order
   * in which they are written, and each connection plans a statement once, since every plan for it would be the same.
   */
  byIndexOnly?: boolean;
  /** Milliseconds for a connection and for a statement; 3,000 and 5,000 unless told: waiting longer is an error. */
  timeouts?: Timeouts;
  /** Called for each committed change of a send's delivery by this process. */
  onDelivery?: (before: DeliveryFacts, after: DeliveryFacts) => void;
  /** Called for a connection that broke while idle; the pool replaces it by itself. */
  onConnectionError?: (error: Error) => void;
}

interface Timeouts {
  connectionMs: number;
  statementMs: number;
}

const TIMEOUTS: Timeouts = { connectionMs: 3_000, statementMs: 5_000 };
/** How long after PostgreSQL should have ended a statement its connection counts as silent. */
const SILENT_AFTER_MS = 500;

/** Opens the pool, which connects at the first query. @param url may name several servers, see `Servers` */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const servers = new Servers(url, options.pooler === 'transaction' ? POOLED_SETTINGS : allSettings(options));
  const pool = openPool(servers, options);
  const adapter = adapterOf(pool, options);
  // Any other format takes a stack trace for every query.
  const prisma = new PrismaClient({
    adapter,
    errorFormat: 'minimal',
    ...(options.timeouts && {
      transactionOptions: {
        maxWait: options.timeouts.connectionMs,
        timeout: options.timeouts.statementMs,
      },
    }),
  });
  return {
    prisma,
    sql: adapterSql(adapter),
    transaction: (work, limits) =>
      prisma.$transaction((client) => work({ prisma: client, sql: transactionSql(client) }), limits),
    pool,
    servers,
    onDelivery: options.onDelivery ?? (() => {}),
  };
}

function openPool(servers: Servers, options: DatabaseOptions): pg.Pool {
  const { connectionMs, statementMs } = options.timeouts ?? TIMEOUTS;
  const pool = new pg.Pool({
    max: options.connectionsMax,
    Client: servers.clientClass(),
    connectionTimeoutMillis: connectionMs,
    query_timeout: statementMs + SILENT_AFTER_MS,
    keepAlive: true,
  });
  pool.on('error', (error) => options.onConnectionError?.(error));
  return pool.on('release', (error) => {
    if (error instanceof Error && !(error instanceof pg.DatabaseError)) closeIdle(pool);
  });
}

/** Closes the idle connections of a pool after another one was lost: a firewall or a router that drops one usually drops all. */
function closeIdle(pool: pg.Pool): void {
  for (let count = pool.idleCount; count > 0; count -= 1)
    pool.connect().then(
      (client) => client.release(true),
      () => {},
    );
}

const allSettings = (options: DatabaseOptions): Settings => ({
  ...POOLED_SETTINGS,
  ...FIXED_SETTINGS,
  ...sessionSettings(options),
});

/** What a session has set in addition to `FIXED_SETTINGS`. deploy/pgbouncer/pgbouncer.ini has the same for poolers in transaction mode. */
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

function adapterOf(pool: pg.Pool, { onConnectionError }: DatabaseOptions): PrismaPg {
  const adapter = new PrismaPg(pool, {
    // Without names, PostgreSQL parses and plans every statement anew (30–45% slower).
    statementNameGenerator: statementName,
    onConnectionError: (error) => onConnectionError?.(error),
  });
  return writingTimes(adapter);
}

/** Names of prepared statements by their texts: as many as the code has statements. Each connection keeps what it prepared. */
const statementNames = new Map<string, string>();

function statementName({ sql }: { sql: string }): string {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = hash('sha1', sql, 'base64url');
    statementNames.set(sql, name);
  }
  return name;
}

/** Closes the pool once the queries under way have ended. */
export async function closeDatabase({ prisma, pool }: Database): Promise<void> {
  await prisma.$disconnect();
  await pool.end();
}

/** Succeeds when PostgreSQL answers, and refuses no new connection. @throws Error that says why there is no connection, or the driver's error */
export async function pingDatabase(database: Database): Promise<void> {
  try {
    await database.sql.query`select 1`;
    await database.servers.retryRefused();
  } catch (error) {
    const fault = connectionFault(error);
    throw fault === null ? error : new Error(fault, { cause: (error as Error).cause });
  }
}

/** Counts the connections of the pool: in use, idle, and requests that wait for one. */
export function countConnections({
  pool: { totalCount, idleCount, waitingCount },
}: Pick<Database, 'pool'>): Record<'used' | 'idle' | 'waiting', number> {
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}
