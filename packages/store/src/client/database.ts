import { hash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';
import { withHedging } from './hedging.js';
import { statementsOf, type Statements } from './sql.js';

/** The one handle on PostgreSQL that every function of this package takes first. */
export type Database = PrismaClient;

/** A handle on one transaction; a `Database` will do where no other statement has to be in it. */
export type Connection = Prisma.TransactionClient;

export interface DatabaseOptions {
  /** Connections at the most. */
  connectionsMax: number;
  /** Connections besides, at the most, that point reads have to themselves; without any they share the others. */
  readConnectionsMax?: number;
  /**
   * For processes that look rows up and never read a table: a plan that was made while a table was small would read all of it, and a
   * prepared statement keeps its plan until statistics come, which may be long after the table has grown. Joins go in the order in which
   * they are written. With no more than one way to go, a plan for these very parameters would be the same: statements are planned once
   * for each connection.
   */
  byIndexOnly?: boolean;
  /** Called for a connection that broke while idle; the pool replaces it by itself. */
  onConnectionError?: (error: Error) => void;
}

/** Waiting longer than this for a connection or a statement is an error, so that an outage is answered and not waited for. */
const CONNECTION_MS_MAX = 3_000;
const STATEMENT_MS_MAX = 5_000;

const settings = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Names of prepared statements. There are as many as there are statements in the code, and each connection keeps what it prepared. */
const names = new Map<string, string>();

function nameOf({ sql }: { sql: string }): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = hash('sha1', sql, 'base64url');
    names.set(sql, name);
  }
  return name;
}

/** Pools by their databases, to be closed with them. */
const pools = new WeakMap<Database, pg.Pool[]>();

/** What point reads are asked of, by their databases. */
const reads = new WeakMap<Connection, Statements>();

/** Opens a pool. Connects at the first query, so it succeeds while PostgreSQL is away. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = openPool(url, options.connectionsMax, options);
  const adapter = adapterOf(pool, options);
  // Any other format takes a stack trace for every query.
  const client = new PrismaClient({ adapter, errorFormat: 'minimal' });
  const statements = statementsOf(adapter);
  // Everything else is the client's, and is called on the client: a transaction would hand on whatever stands before it.
  const database = new Proxy(client, {
    get(_, name) {
      if (name in statements) return statements[name as keyof Statements];
      const own: unknown = Reflect.get(client, name);
      return typeof own === 'function' ? (own.bind(client) as unknown) : own;
    },
  });
  pools.set(database, [pool]);
  if (options.readConnectionsMax !== undefined) {
    const readPool = withHedging(openPool(url, options.readConnectionsMax, options));
    pools.set(database, [pool, readPool]);
    reads.set(database, statementsOf(adapterOf(readPool, options)));
  }
  return database;
}

function openPool(url: string, connectionsMax: number, options: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: CONNECTION_MS_MAX,
    statement_timeout: STATEMENT_MS_MAX,
    query_timeout: STATEMENT_MS_MAX + 1_000,
    idle_in_transaction_session_timeout: STATEMENT_MS_MAX,
    // The adapter takes every time for UTC in ISO form, whatever the server would say by itself. Compiling a statement would
    // take longer than any of ours does.
    options: settings({
      TimeZone: 'UTC',
      DateStyle: 'ISO',
      jit: 'off',
      ...(options.byIndexOnly && {
        enable_seqscan: 'off',
        enable_hashjoin: 'off',
        enable_mergejoin: 'off',
        join_collapse_limit: '1',
        plan_cache_mode: 'force_generic_plan',
      }),
    }),
    keepAlive: true,
  });
  return pool.on('error', (error) => options.onConnectionError?.(error));
}

function adapterOf(pool: pg.Pool, { onConnectionError }: DatabaseOptions): PrismaPg {
  return new PrismaPg(pool, {
    // Without names, PostgreSQL parses and plans every statement anew (30–45% slower).
    statementNameGenerator: nameOf,
    onConnectionError: (error) => onConnectionError?.(error),
  });
}

/**
 * For statements that look a few rows up and change nothing: on connections of their own where the database was opened with such, each
 * with a second chance on another connection. In a transaction it is the transaction.
 */
export function pointReads(database: Connection): Pick<Statements, '$queryRaw'> {
  return reads.get(database) ?? database;
}

/** Closes the pools once the queries under way have ended. */
export async function closeDatabase(database: Database): Promise<void> {
  await database.$disconnect();
  await Promise.all(pools.get(database)?.map((pool) => pool.end()) ?? []);
}

/** Succeeds when PostgreSQL answers. @throws the driver's error otherwise. */
export async function pingDatabase(database: Database): Promise<void> {
  await database.$queryRaw`select 1`;
}
