import { hash } from 'node:crypto';
import pg from 'pg';
import { Prisma } from '../generated/prisma/client.js';
import { isLostConnection, throwStatementError } from './errors.js';

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
      .catch(throwStatementError);
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

const refuse = (): never => {
  throw new TypeError(
    'a column has a type with another value in a transaction, such as date or numeric: cast it in the statement',
  );
};

/** Parsers by type oid that replace the driver's, so that a statement returns the same values as in a transaction, or fails. */
const PARSERS: Partial<Record<number, (text: string) => unknown>> = {
  20: BigInt, // bigint
  1016: refuse, // bigint[]
  1082: refuse, // date
  1114: refuse, // timestamp
  1115: refuse, // timestamp[]
  1182: refuse, // date[]
  1184: parseTime, // timestamptz
  1185: refuse, // timestamptz[]
  1186: refuse, // interval
  1231: refuse, // numeric[]
  1700: refuse, // numeric
};

const driverParser: (oid: number) => (text: string) => unknown = pg.types.getTypeParser;

const getTypeParser = (oid: number) => PARSERS[oid] ?? driverParser(oid);

const TYPES: pg.CustomTypesConfig = { getTypeParser: getTypeParser as typeof pg.types.getTypeParser };

/** A time as PostgreSQL writes it if `DateStyle` is ISO, with the offset of the session's `TimeZone`. */
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(:\d\d)?$/;

/** Parses a time. @throws TypeError if `DateStyle` is not ISO, because day and month could be swapped */
function parseTime(text: string): Date {
  const [, day, time, hours, minutes = ':00'] = TIME.exec(text) ?? [];
  if (day === undefined)
    throw new TypeError('could not parse a time: it is not in ISO format, so DateStyle must be ISO');
  return new Date(`${day}T${time}${hours}${minutes}`);
}

/** Returns bytes as the text that PostgreSQL parses as `bytea`, for JSON parameters. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}
