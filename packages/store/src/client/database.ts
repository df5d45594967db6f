import { hash } from 'node:crypto';
import type { DeliveryFacts } from '@onecode/domain';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';
import { connectionFault } from './connectionFaults.js';
import { withHedging } from './hedging.js';
import { UnusableDatabase } from './poolers.js';
import { Servers } from './servers.js';
import { UNBOUNDED_SETTINGS } from './settings.js';
import { adapterSql, transactionSql, type Sql } from './sql.js';
import { writingTimes } from './times.js';

/** A handle on one transaction. A `Database` is one too, each of whose statements is a transaction by itself. */
export interface Connection {
  /** Prisma's models, for whatever is not hot. */
  readonly prisma: Prisma.TransactionClient;
  readonly sql: Sql;
  /** For statements that look a few rows up and change nothing. */
  readonly reads: Pick<Sql, 'query'>;
}

/** The one handle on PostgreSQL that every function of this package takes first. */
export interface Database extends Connection {
  readonly prisma: PrismaClient;
  /** Hedged queries on connections of their own if the database was opened with such; `sql` otherwise. */
  readonly reads: Pick<Sql, 'query'>;
  /** Runs `work` in one transaction, which is rolled back when it throws. Milliseconds as Prisma takes them. */
  transaction<R>(
    work: (connection: Connection) => Promise<R>,
    options?: { maxWait?: number; timeout?: number },
  ): Promise<R>;
  /** What `closeDatabase` closes. */
  readonly pools: readonly [pg.Pool, ...pg.Pool[]];
  readonly servers: Servers;
  readonly onDelivery: (before: DeliveryFacts, after: DeliveryFacts) => void;
}

export interface DatabaseOptions {
  connectionsMax: number;
  /** Further connections at the most, two or more, for `reads` alone; without any, `reads` share the others. */
  readConnectionsMax?: number;
  /**
   * For processes that look rows up and never scan a table. A prepared statement that was planned while a table was small would scan
   * it, and keep that plan until statistics come, which may be long after the table has grown. So scans are off, joins go in the order
   * in which they are written, and each connection plans a statement once, since every plan for it would be the same.
   */
  byIndexOnly?: boolean;
  /** Called with the settings that sessions behind a pooler lack: only its operator can set them. */
  onMissingSettings?: (names: string[]) => void;
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
/** How many of the connections for reads are for second tries. */
const SECOND_TRIES_MAX = 2;

/** Opens the pools, which connect at the first query. @param url may name several servers, see `Servers` */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const servers = new Servers(url, sessionSettings(options), options.onMissingSettings);
  const { connectionsMax, readConnectionsMax = 0 } = options;
  const pool = openPool(servers, options, { max: connectionsMax });
  const pools: [pg.Pool, ...pg.Pool[]] = [pool];
  if (readConnectionsMax > 0) {
    const secondTries = Math.min(SECOND_TRIES_MAX, readConnectionsMax - 1);
    pools.push(
      openPool(servers, options, { max: readConnectionsMax - secondTries }),
      openPool(servers, options, { max: secondTries, maxUses: 1 }),
    );
  }
  const [, readPool, freshPool] = pools;
  const reads = readPool && freshPool && withHedging(readPool, freshPool);
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
  const sql = adapterSql(adapter);
  return {
    prisma,
    sql,
    reads: reads === undefined ? sql : adapterSql(adapterOf(reads, options)),
    transaction: (work, limits) =>
      prisma.$transaction((client) => {
        const own = transactionSql(client);
        return work({ prisma: client, sql: own, reads: own });
      }, limits),
    pools,
    servers,
    onDelivery: options.onDelivery ?? (() => {}),
  };
}

function openPool(servers: Servers, options: DatabaseOptions, limits: pg.PoolConfig): pg.Pool {
  const { connectionMs, statementMs } = options.timeouts ?? TIMEOUTS;
  const pool = new pg.Pool({
    ...limits,
    Client: servers.clientClass(),
    connectionTimeoutMillis: connectionMs,
    query_timeout: statementMs + 1_000,
    keepAlive: true,
  });
  return pool.on('error', (error) => options.onConnectionError?.(error));
}

/** What a session has set in addition to `FIXED_SETTINGS`. deploy/pgbouncer/pgbouncer.ini has the same for poolers in transaction mode. */
export function sessionSettings({
  timeouts: { statementMs } = TIMEOUTS,
  byIndexOnly = false,
}: Pick<DatabaseOptions, 'timeouts' | 'byIndexOnly'>): Record<string, string> {
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

/** Closes the pools once the queries under way have ended. */
export async function closeDatabase(database: Database): Promise<void> {
  await database.prisma.$disconnect();
  await Promise.all(database.pools.map((pool) => pool.end()));
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

/** The connections of all pools: in use, idle, and those that are asked for and not there yet. */
export function countConnections({
  pools,
}: Pick<Database, 'pools'>): Record<'used' | 'idle' | 'waiting', number> {
  const sum = (of: (pool: pg.Pool) => number): number => pools.reduce((all, pool) => all + of(pool), 0);
  return {
    used: sum(({ totalCount, idleCount }) => totalCount - idleCount),
    idle: sum(({ idleCount }) => idleCount),
    waiting: sum(({ waitingCount }) => waitingCount),
  };
}

/** Tries the address when a process starts. Succeeds while PostgreSQL is away. @throws UnusableDatabase */
export async function refuseUnusableDatabase({ servers }: Pick<Database, 'servers'>): Promise<void> {
  try {
    await servers.findPooler();
  } catch (error) {
    if (error instanceof UnusableDatabase) throw error;
  }
}
