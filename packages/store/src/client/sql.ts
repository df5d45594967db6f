import type { PrismaPg } from '@prisma/adapter-pg';
import {
  ColumnTypeEnum,
  type ArgType,
  type ColumnType,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils';
import { Prisma } from '../generated/prisma/client.js';

/** A statement: a template whose values become its parameters, or one made with `Prisma.sql`. */
type Statement = TemplateStringsArray | Prisma.Sql;

/** Raw SQL. `refusedBy` reads the rejections. */
export interface Sql {
  /** Returns the rows, keyed by column name. The row type is not checked; `query<[Row]>` asserts exactly one row. */
  query<Rows = unknown>(statement: Statement, ...values: unknown[]): Promise<Rows>;
  /** Like `query`, for statements that change nothing. Outside a transaction, repeats it once on a new connection if its own is lost. */
  read<Rows = unknown>(statement: Statement, ...values: unknown[]): Promise<Rows>;
  /** The number of rows that the statement changed, or locked where it is a `select`. */
  execute(statement: Statement, ...values: unknown[]): Promise<number>;
}

/** Makes the adapter pass a value to the driver without converting it. */
const UNCONVERTED: ArgType = { arity: 'scalar', scalarType: 'unknown' };

const unchanged = (value: unknown): unknown => value;

/** The types that our statements may return, parsed as Prisma's client parses them. The adapter leaves some of them as text. */
const PARSERS: Partial<Record<ColumnType, (value: never) => unknown>> = {
  [ColumnTypeEnum.Int32]: unchanged,
  [ColumnTypeEnum.Double]: unchanged,
  [ColumnTypeEnum.Boolean]: unchanged,
  [ColumnTypeEnum.Text]: unchanged,
  [ColumnTypeEnum.Uuid]: unchanged,
  [ColumnTypeEnum.Bytes]: unchanged,
  [ColumnTypeEnum.Int32Array]: unchanged,
  [ColumnTypeEnum.DoubleArray]: unchanged,
  [ColumnTypeEnum.TextArray]: unchanged,
  [ColumnTypeEnum.UuidArray]: unchanged,
  [ColumnTypeEnum.Int64]: (value: string) => BigInt(value),
  [ColumnTypeEnum.DateTime]: (value: string) => new Date(value),
  [ColumnTypeEnum.Json]: (value: string): unknown => JSON.parse(value),
  [ColumnTypeEnum.DateTimeArray]: (values: (string | null)[]) =>
    values.map((value) => value && new Date(value)),
};

/**
 * Raw SQL outside transactions, through Prisma's driver adapter alone. Prisma's engine returns the same, but plans, copies the parameters and
 * converts the rows twice: two to three times the work on hot paths.
 */
export function adapterSql(factory: PrismaPg): Sql {
  let connected: Promise<SqlDriverAdapter> | undefined;
  const adapter = (): Promise<SqlDriverAdapter> => (connected ??= factory.connect());
  const query = async <Rows>(statement: Statement, ...values: unknown[]): Promise<Rows> => {
    const { columnNames, columnTypes, rows } = await (
      await adapter()
    )
      .queryRaw(queryOf(statement, values))
      .catch(throwWithCode);
    const parsers = columnTypes.map((type, index) => parserOf(type, columnNames[index] as string));
    return rows.map((row) => {
      const result: Record<string, unknown> = {};
      for (const [index, value] of row.entries()) {
        result[columnNames[index] as string] = value === null ? null : parsers[index]?.(value);
      }
      return result;
    }) as Rows;
  };
  return {
    query,
    read: <Rows>(statement: Statement, ...values: unknown[]) =>
      query<Rows>(statement, ...values).catch((error: Error) => {
        if (!lostConnection(error)) throw error;
        return query<Rows>(statement, ...values);
      }),
    async execute(statement, ...values) {
      return (await adapter()).executeRaw(queryOf(statement, values)).catch(throwWithCode);
    },
  };
}

/** Raw SQL within a transaction of Prisma's. */
export function transactionSql(client: Prisma.TransactionClient): Sql {
  const query = async <Rows>(statement: Statement, ...values: unknown[]): Promise<Rows> =>
    client.$queryRaw<Rows>(statement, ...values);
  return {
    query,
    read: query,
    execute: async (statement, ...values) => client.$executeRaw(statement, ...values),
  };
}

/**
 * Rethrows with PostgreSQL's SQLSTATE as `code`, which logs and the queue board show. The board shows only codes with this prefix.
 */
function throwWithCode(error: unknown): never {
  const code = refusedBy(error)?.code;
  throw code === undefined ? error : Object.assign(error as Error, { code: `SQLSTATE_${code}` });
}

function parserOf(type: ColumnType, column: string): (value: unknown) => unknown {
  const parse = PARSERS[type];
  if (parse === undefined)
    throw new TypeError(`column ${column} has a type without a parser: add it to PARSERS`);
  return parse as (value: unknown) => unknown;
}

function queryOf(
  statement: Statement,
  values: unknown[],
): { sql: string; args: unknown[]; argTypes: ArgType[] } {
  const { text, values: args } =
    statement instanceof Prisma.Sql ? statement : Prisma.sql(statement, ...values);
  return { sql: text, args, argTypes: args.map(() => UNCONVERTED) };
}

/** Bytes as PostgreSQL reads them from a text: Prisma's adapter takes no arrays of bytes, and JSON has none. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

/** Why a statement failed: PostgreSQL's SQLSTATE where it answered, and the adapter's word for the kind of failure. */
export interface Refused {
  code: string | undefined;
  kind: string;
}

/** Why a statement failed, in a transaction, in a query of Prisma's or alone; null for any other error. */
export function refusedBy(error: unknown): Refused | null {
  const { cause, meta } = error as {
    cause?: AdapterError;
    meta?: { driverAdapterError?: { cause?: AdapterError } };
  };
  const failure = meta?.driverAdapterError?.cause ?? cause;
  return typeof failure?.kind === 'string' ? { code: failure.originalCode, kind: failure.kind } : null;
}

/**
 * Whether PostgreSQL refused what was to be written, and will again, by the classes of SQLSTATE: data (22), integrity (23), raised (P0).
 */
export const refusesValues = (error: unknown): boolean => /^(?:22|23|P0)/.test(refusedBy(error)?.code ?? '');

/** Whether a statement got no answer because its connection broke or was silent. The message is the driver's own. */
function lostConnection(error: Error): boolean {
  const { kind = '', code = '' } = refusedBy(error) ?? {};
  return (
    /^(?:SocketTimeout|ConnectionClosed)$/.test(kind) ||
    /^(?:08|57P)/.test(code) ||
    error.message.startsWith('Connection terminated unexpectedly')
  );
}

interface AdapterError {
  kind?: unknown;
  originalCode?: string;
}
