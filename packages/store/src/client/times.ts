import type { PrismaPg } from '@prisma/adapter-pg';
import type { ArgType, SqlDriverAdapter, SqlQuery, SqlQueryable } from '@prisma/driver-adapter-utils';
import pg from 'pg';

const TIMESTAMPTZ = 1184;
const TIMESTAMPTZ_ARRAY = 1185;
/** As PostgreSQL writes a time where `DateStyle` is ISO: the offset is that of the session's `TimeZone`. */
const FORM = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(:\d\d)?$/;

/** A time as PostgreSQL wrote it, in RFC 3339. @throws TypeError where `DateStyle` is not ISO: days and months could change places */
function readTime(text: string): string {
  const parts = FORM.exec(text);
  if (parts === null) throw new TypeError('PostgreSQL wrote a time in another form than ISO');
  return `${parts[1]}T${parts[2]}${parts[3]}${parts[4] ?? ':00'}`;
}

type Parser = (text: string) => unknown;

const PARSERS: Readonly<Record<number, Parser>> = {
  [TIMESTAMPTZ]: readTime,
  [TIMESTAMPTZ_ARRAY]: readTimes,
};

/** A list as PostgreSQL writes it, `{"2026-11-23 12:00:00+00",NULL}`; no time has a comma. */
function readTimes(text: string): (string | null)[] {
  const items = text.slice(1, -1).split(',');
  if (items[0] === '') return [];
  return items.map((item) => (item === 'NULL' ? null : readTime(item.replaceAll('"', ''))));
}

/** The types of a query, with our way of reading times. Prisma's adapter cuts the offset off and takes what is left for UTC. */
export function readingTimes(types: pg.CustomTypesConfig = pg.types): pg.CustomTypesConfig {
  const getTypeParser = (oid: number, format?: 'text' | 'binary'): Parser =>
    (format === 'binary' ? undefined : PARSERS[oid]) ??
    (types.getTypeParser as (oid: number, format?: string) => Parser)(oid, format);
  return { getTypeParser: getTypeParser as typeof pg.types.getTypeParser };
}

/** Writes the times in the statements of an adapter with their offset: Prisma's adapter leaves it to the session's time zone. */
export function writingTimes(factory: PrismaPg): PrismaPg {
  const connect = factory.connect.bind(factory);
  return Object.assign(factory, {
    async connect() {
      const adapter = (await connect()) as SqlDriverAdapter;
      const startTransaction = adapter.startTransaction.bind(adapter);
      return Object.assign(withOffsets(adapter), {
        startTransaction: async (...args: Parameters<typeof startTransaction>) =>
          withOffsets(await startTransaction(...args)),
      });
    },
  });
}

function withOffsets<Queryable extends SqlQueryable>(queryable: Queryable): Queryable {
  const queryRaw = queryable.queryRaw.bind(queryable);
  const executeRaw = queryable.executeRaw.bind(queryable);
  return Object.assign(queryable, {
    queryRaw: (query: SqlQuery) => queryRaw(withOffset(query)),
    executeRaw: (query: SqlQuery) => executeRaw(withOffset(query)),
  });
}

/** Most statements have no time among their arguments, and go on as they are. */
function withOffset(query: SqlQuery): SqlQuery {
  const { args, argTypes } = query;
  if (!args.some((arg, index) => isTime(arg, argTypes[index]))) return query;
  return {
    ...query,
    args: args.map((arg, index) => (isTime(arg, argTypes[index]) ? written(arg) : arg)),
    argTypes: argTypes.map((type, index) =>
      isTime(args[index], type) ? { ...type, scalarType: 'unknown' } : type,
    ),
  };
}

/** Whether an argument is a time, or a list of times. Days and times of day have no offset. */
function isTime(arg: unknown, type: ArgType | undefined): boolean {
  if (type?.dbType === 'DATE' || type?.dbType === 'TIME' || type?.dbType === 'TIMETZ') return false;
  return (
    type?.scalarType === 'datetime' || arg instanceof Date || (Array.isArray(arg) && arg[0] instanceof Date)
  );
}

function written(arg: unknown): unknown {
  if (Array.isArray(arg)) return arg.map(written);
  if (typeof arg === 'string') return new Date(arg).toISOString();
  return arg instanceof Date ? arg.toISOString() : arg;
}
