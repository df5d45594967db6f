import type { PrismaPg } from '@prisma/adapter-pg';
import {
  ColumnTypeEnum,
  type ArgType,
  type ColumnType,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils';
import { Prisma, type PrismaClient } from '../generated/prisma/client.js';

/** Raw statements, as Prisma's client takes them: a template, or a statement made with `Prisma.sql`. */
export type Statements = Pick<PrismaClient, '$queryRaw' | '$executeRaw'>;

type Template = TemplateStringsArray | Prisma.Sql;

/** Values go as they are; the driver writes them as PostgreSQL reads them. */
const AS_IT_IS: ArgType = { arity: 'scalar', scalarType: 'unknown' };

const asItIs = (value: unknown): unknown => value;

/** What our statements may return, in the form in which Prisma's client would give it. The adapter leaves some of it as text. */
const READ: Partial<Record<ColumnType, (value: never) => unknown>> = {
  [ColumnTypeEnum.Int32]: asItIs,
  [ColumnTypeEnum.Double]: asItIs,
  [ColumnTypeEnum.Boolean]: asItIs,
  [ColumnTypeEnum.Text]: asItIs,
  [ColumnTypeEnum.Uuid]: asItIs,
  [ColumnTypeEnum.Bytes]: asItIs,
  [ColumnTypeEnum.Int32Array]: asItIs,
  [ColumnTypeEnum.DoubleArray]: asItIs,
  [ColumnTypeEnum.TextArray]: asItIs,
  [ColumnTypeEnum.UuidArray]: asItIs,
  [ColumnTypeEnum.Int64]: (value: string) => BigInt(value),
  [ColumnTypeEnum.DateTime]: (value: string) => new Date(value),
  [ColumnTypeEnum.Json]: (value: string): unknown => JSON.parse(value),
  [ColumnTypeEnum.DateTimeArray]: (values: (string | null)[]) =>
    values.map((value) => value && new Date(value)),
};

/**
 * Raw statements outside of transactions, by Prisma's driver adapter alone. Its client's engine would give the same, after a plan of
 * its own, a copy of the parameters and two conversions of the rows: two to three times the work for what the hot paths do.
 */
export function statementsOf(factory: PrismaPg): Statements {
  let connected: Promise<SqlDriverAdapter> | undefined;
  const adapter = (): Promise<SqlDriverAdapter> => (connected ??= factory.connect());
  const $queryRaw = async (template: Template, ...values: unknown[]): Promise<unknown> => {
    const query = queryOf(template, values);
    const { columnNames, columnTypes, rows } = await (await adapter()).queryRaw(query).catch(throwWithCode);
    const readers = columnTypes.map((type, place) => readerOf(type, columnNames[place] as string));
    return rows.map((row) => {
      const result: Record<string, unknown> = {};
      for (const [place, value] of row.entries()) {
        result[columnNames[place] as string] = value === null ? null : readers[place]?.(value);
      }
      return result;
    });
  };
  const $executeRaw = async (template: Template, ...values: unknown[]): Promise<number> =>
    (await adapter()).executeRaw(queryOf(template, values)).catch(throwWithCode);
  // Prisma's own come to nothing until they are awaited, which nobody relies on.
  return { $queryRaw, $executeRaw } as unknown as Statements;
}

/**
 * Logs and the board show an error's code, and the adapter hides PostgreSQL's in the cause. Said with its name, since five digits
 * by themselves might be somebody's code, which neither shows.
 */
function throwWithCode(error: unknown): never {
  const code = refusedBy(error)?.code;
  throw code === undefined ? error : Object.assign(error as Error, { code: `SQLSTATE_${code}` });
}

function readerOf(type: ColumnType, column: string): (value: unknown) => unknown {
  const read = READ[type];
  if (read === undefined)
    throw new TypeError(`column ${column} has a type that no statement of ours returns`);
  return read as (value: unknown) => unknown;
}

function queryOf(
  template: Template,
  values: unknown[],
): { sql: string; args: unknown[]; argTypes: ArgType[] } {
  const { text, values: args } = template instanceof Prisma.Sql ? template : Prisma.sql(template, ...values);
  return { sql: text, args, argTypes: args.map(() => AS_IT_IS) };
}

/** Why PostgreSQL, or the way to it, refused a statement: SQLSTATE where it answered, and the adapter's word for the kind. */
export interface Refused {
  code: string | undefined;
  kind: string;
}

/** What is known of a failed statement, whether it failed in a transaction, in a query of Prisma's or alone. */
export function refusedBy(error: unknown): Refused | null {
  const { cause, meta } = error as { cause?: Fault; meta?: { driverAdapterError?: { cause?: Fault } } };
  const fault = meta?.driverAdapterError?.cause ?? cause;
  return typeof fault?.kind === 'string' ? { code: fault.originalCode, kind: fault.kind } : null;
}

interface Fault {
  kind?: unknown;
  originalCode?: string;
}
