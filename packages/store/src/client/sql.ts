import { hash } from 'node:crypto';
import pg from 'pg';
import { Prisma } from '../generated/prisma/client.js';
import { isLostConnection, readSqlState, throwStatementError } from './errors.js';
import { closeIdle } from './servers.js';

/** A statement: a template with values that become its parameters, or one made with `Prisma.sql`. */
type Statement = TemplateStringsArray | Prisma.Sql;

/** Raw SQL. `readSqlState` returns the SQLSTATE of a rejection. */
export interface Sql {
  /** Returns the rows, keyed by column name. The row type is not checked; `query<[Row]>` asserts exactly one row. */
  query<Rows = unknown>(statement: Statement, ...values: unknown[]): Promise<Rows>;
  /**
   * Like `query`, for statements that change nothing. Outside a transaction, repeats the statement once on a new connection if the
   * connection is lost.
   */
  read<Rows = unknown>(statement: Statement, ...values: unknown[]): Promise<Rows>;
  /** Returns the number of rows that the statement changed, or that a `select` locked. */
  execute(statement: Statement, ...values: unknown[]): Promise<number>;
}

/** Returns raw SQL outside transactions, through the driver's pool. */
export function poolSql(pool: pg.Pool): Sql {
  const run = (statement: Statement, values: unknown[]): Promise<pg.QueryResult> => {
    const { text, values: parameters } =
      statement instanceof Prisma.Sql ? statement : Prisma.sql(statement, ...values);
    return pool
      .query({ name: statementName(text), text, values: parameters, types: TYPES })
      .catch((error: Error) => {
        // The user or password of a new connection was rejected. Readiness would use the open ones, and would not notice.
        if (/^28(?:P01|000)$/.test(readSqlState(error) ?? '')) closeIdle(pool);
        return throwStatementError(error);
      });
  };
  const query = async <Rows>(statement: Statement, ...values: unknown[]): Promise<Rows> =>
    (await run(statement, values)).rows as Rows;
  return {
    query,
    read: <Rows>(statement: Statement, ...values: unknown[]) =>
      query<Rows>(statement, ...values).catch((error: Error) => {
        if (!isLostConnection(error)) throw error;
        return query<Rows>(statement, ...values);
      }),
    execute: async (statement, ...values) => (await run(statement, values)).rowCount ?? 0,
  };
}

/** Returns raw SQL through Prisma's client or within one of Prisma's transactions. */
export function prismaSql(client: Pick<Prisma.TransactionClient, '$queryRaw' | '$executeRaw'>): Sql {
  const query = async <Rows>(statement: Statement, ...values: unknown[]): Promise<Rows> =>
    client.$queryRaw<Rows>(statement, ...values).catch(throwStatementError);
  return {
    query,
    read: query,
    execute: async (statement, ...values) =>
      client.$executeRaw(statement, ...values).catch(throwStatementError),
  };
}

/** Names of prepared statements by text. The code has a bounded number of texts. */
const statementNames = new Map<string, string>();

/** Returns the name under which a connection prepares a statement: the hash of its text, so that no two statements share one. */
export function statementName(text: string): string {
  let name = statementNames.get(text);
  if (name === undefined) {
    name = hash('sha1', text, 'base64url');
    statementNames.set(text, name);
  }
  return name;
}

const BIGINT: number = pg.types.builtins.INT8;
const driverParser: (oid: number) => (text: string) => unknown = pg.types.getTypeParser;

/** The driver's parsers, except that bigint is a `BigInt`, as in a transaction. */
const getTypeParser = (oid: number) => (oid === BIGINT ? BigInt : driverParser(oid));

const TYPES: pg.CustomTypesConfig = { getTypeParser: getTypeParser as typeof pg.types.getTypeParser };

/** Returns bytes as the text that PostgreSQL parses as `bytea`, for JSON parameters. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}
