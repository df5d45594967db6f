import { readFile } from 'node:fs/promises';
import { useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();
let models: Map<string, Model>;
beforeAll(async () => {
  models = parse(await readFile(new URL('../../../../prisma/schema.prisma', import.meta.url), 'utf8'));
});

interface Model {
  table: string;
  /** Each column as `type` or `type | null`. */
  columns: Record<string, string>;
  /** The columns of each primary key and unique index. */
  unique: string[];
}

const TYPES: Record<string, string> = {
  String: 'text',
  'String @db.Uuid': 'uuid',
  Int: 'integer',
  'Int @db.SmallInt': 'smallint',
  BigInt: 'bigint',
  Float: 'double precision',
  Boolean: 'boolean',
  Bytes: 'bytea',
  Json: 'jsonb',
  'DateTime @db.Date': 'date',
  'DateTime @db.Timestamptz(3)': 'timestamp(3) with time zone',
  'DateTime @db.Timestamptz(6)': 'timestamp(6) with time zone',
};

/** Reads as much of the Prisma schema language as our schema uses. */
function parse(text: string): Map<string, Model> {
  const blocks = [...text.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)].map(
    ([, name, body]) => [name as string, body as string] as const,
  );
  const names = new Set(blocks.map(([name]) => name));
  return new Map(
    blocks.map(([name, body]) => {
      const table = /@@map\("(\w+)"\)/.exec(body)?.[1];
      if (table === undefined) throw new Error(`model ${name} names no table`);
      const columnOf = new Map<string, string>();
      const model: Model = { table, columns: {}, unique: [] };
      for (const line of body.split('\n')) {
        const [, field, type, form, attributes] = /^ {2}(\w+)\s+(\w+)(\?|\[\])?(?: +(.*))?$/.exec(line) ?? [];
        if (field === undefined || type === undefined || names.has(type)) continue;
        const column = /@map\("(\w+)"\)/.exec(attributes ?? '')?.[1] ?? field;
        const native = /@db\.\w+(?:\(\d+\))?/.exec(attributes ?? '')?.[0];
        const key = native === undefined ? type : `${type} ${native}`;
        const columnType = TYPES[key];
        if (columnType === undefined) throw new Error(`${name}.${field}: what is ${key} in PostgreSQL?`);
        // Prisma reads a null as an empty list, so a list may always be null.
        model.columns[column] =
          form === '[]' ? `${columnType}[] | null` : form === '?' ? `${columnType} | null` : columnType;
        columnOf.set(field, column);
        if (/@id\b|@unique\b/.test(attributes ?? '')) model.unique.push(column);
      }
      for (const [, fields] of body.matchAll(/@@(?:id|unique)\(\[([^\]]+)\]/g))
        model.unique.push(
          (fields as string)
            .split(/, */)
            .map((field) => columnOf.get(field))
            .join(', '),
        );
      return [name, model];
    }),
  );
}

describe('prisma/schema.prisma', () => {
  it('has a model for every table of the migrated database, and no other', async () => {
    const tables = await store.sql<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename <> '_prisma_migrations'`,
    );
    expect([...models.values()].map(({ table }) => table).toSorted()).toEqual(
      tables.map(({ name }) => name).toSorted(),
    );
  });

  it('has every column of every table, with its type and whether it may be null, and no other', async () => {
    const rows = await store.sql<{ table: string; column: string; type: string }>(
      `select c.relname as table, a.attname as column,
         format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then '' else ' | null' end as type
       from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped`,
    );
    for (const { table, columns } of models.values()) {
      const there = rows.filter((row) => row.table === table).map(({ column, type }) => [column, type]);
      expect([table, columns]).toEqual([table, Object.fromEntries(there)]);
    }
  });

  it('calls unique what the database keeps unique', async () => {
    const rows = await store.sql<{ table: string; columns: string }>(
      `select i.indrelid::regclass::text as table,
         (select string_agg(a.attname, ', ' order by k.place) from unnest(i.indkey) with ordinality as k (number, place)
            join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number) as columns
       from pg_index i join pg_class c on c.oid = i.indexrelid
       where i.indisunique and c.relnamespace = 'public'::regnamespace`,
    );
    for (const { table, unique } of models.values()) {
      const there = rows.filter((row) => row.table === table).map(({ columns }) => columns);
      expect([table, unique.toSorted()]).toEqual([table, there.toSorted()]);
    }
  });

  it('makes a client that can read every table', async () => {
    for (const name of models.keys()) {
      const delegate = name.charAt(0).toLowerCase() + name.slice(1);
      const { [delegate]: table } = store.database.prisma as unknown as Record<
        string,
        { findFirst(): Promise<unknown> }
      >;
      await expect(table!.findFirst()).resolves.not.toBeUndefined();
    }
  });
});

describe('the indexes of sends', () => {
  it('look at nothing that a guess or a receipt changes, which so updates its row in place', async () => {
    const [looked] = await store.sql<{ columns: string[] }>(
      `select array_agg(distinct a.attname::text) as columns
       from pg_index i join pg_attribute a on a.attrelid = i.indrelid and (
         a.attnum = any(i.indkey) or exists (
           select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
             and d.refclassid = 'pg_class'::regclass and d.refobjid = i.indrelid and d.refobjsubid = a.attnum
         )
       ) where i.indrelid = 'sends'::regclass`,
    );
    // A lock and a failure happen once to a few sends, and have an index each.
    expect(looked!.columns).toEqual(
      expect.arrayContaining(['id', 'next_enqueue_at', 'failed_at', 'locked_at']),
    );
    const changed =
      'status verification wrong_guesses wrong_guess_times sent_at delivered_at read_at verified_at version';
    expect(changed.split(' ').filter((column) => looked!.columns.includes(column))).toEqual([]);
  });
});
