import { readFile } from 'node:fs/promises';
import { newId } from '@onecode/store/client';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();

describe('the constraints', () => {
  interface Statement {
    sql: string;
    /** The constraint or rule that rejects it; null for a valid one. */
    refusedBy: string | null;
  }

  let statements: Statement[];

  /** The statements of rows.sql, with ids instead of the names of rows. */
  async function readStatements(ids: Record<string, string>): Promise<Statement[]> {
    const text = await readFile(new URL('rows.sql', import.meta.url), 'utf8');
    return [...text.replaceAll(/^--.*$/gm, '').matchAll(/\s*([^;]+);(?: -- (\w+))?$/gm)].map(
      ([, sql, refusedBy]) => ({
        sql: sql!.replaceAll(/(?<!:):([a-zA-Z]+)/g, (_, name: string) => `'${ids[name]}'`),
        refusedBy: refusedBy ?? null,
      }),
    );
  }

  beforeAll(async () => {
    const live = await buildCaller(store.database, 'live', { freeQuota: 1000 });
    const test = await buildCaller(store.database, 'test', { id: live.accountId });
    const other = await buildCaller(store.database, 'live');
    const make = () => buildSend(store.database, live);
    statements = await readStatements({
      account: live.accountId,
      application: live.applicationId,
      testApplication: test.applicationId,
      otherAccount: other.accountId,
      sender: (await buildSender(store.database)).id,
      queued: await make(),
      keyed: await buildSend(store.database, live, { idempotencyKey: 'taken' }),
      sending: await make(),
      sent: await make(),
      failed: await make(),
      testQueued: await buildSend(store.database, test),
      attempt: newId(),
      user: newId(),
      nothing: newId(),
    });
  });

  /** Returns the constraint by which PostgreSQL rejects a statement; null if it does not. */
  async function refusalOf(sql: string): Promise<string | null> {
    try {
      await store.sql(sql);
      return null;
    } catch (error) {
      return (error as { constraint?: string }).constraint ?? String(error);
    }
  }

  /** The names of the rules in `send_is_valid`, each at the end of a line. */
  async function rulesOfSends(): Promise<string[]> {
    const [known] = await store.sql<{ names: string[]; count: number }>(
      `select array(select (regexp_matches(prosrc, $$then '(\\w+)'$$ || '$', 'gn'))[1]) as names,
         regexp_count(prosrc, '(?n)^    when ') as count
       from pg_proc where proname = 'send_is_valid'`,
    );
    expect(known?.names).toHaveLength(known?.count ?? 0);
    return known?.names ?? [];
  }

  /** Returns a change of a send as a new row. @param columns all except the generated one */
  const asNewSend = (change: string, columns: string): string =>
    `create temporary table invalid on commit drop as select * from sends where ${/id = '[^']+'$/.exec(change)?.[0]};
     ${change.replace('update sends', 'update invalid')};
     insert into sends (${columns}) select ${columns} from invalid`;

  it('accept and reject each row as rows.sql states, with the same rule for inserts and updates of sends', async () => {
    const rules = await rulesOfSends();
    const [inserted] = await store.sql<{ columns: string }>(
      `select string_agg(attname, ', ') as columns from pg_attribute
       where attrelid = 'sends'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
    );
    for (const { sql, refusedBy } of statements) {
      expect([sql, await refusalOf(sql)]).toEqual([sql, refusedBy]);
      if (refusedBy !== null && rules.includes(refusedBy))
        expect([sql, await refusalOf(asNewSend(sql, inserted!.columns))]).toEqual([sql, refusedBy]);
    }
  });

  it('report a violated rule of sends like a check constraint, without the row', async () => {
    const error = await store.sql(`update sends set phase = 'unknown'`).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: '23514',
      table: 'sends',
      constraint: 'phase_fits',
      message: 'new row for relation "sends" violates check constraint "phase_fits"',
    });
    expect((error as { detail?: string }).detail).toBeUndefined();
  });

  it('have an invalid row in rows.sql for every rule of several columns and every unique index', async () => {
    const rows = await store.sql<{ name: string }>(
      `select conname as name from pg_constraint
         where connamespace = 'public'::regnamespace and contype = 'c' and cardinality(conkey) > 1
       union
       select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indisunique and not i.indisprimary and c.relnamespace = 'public'::regnamespace`,
    );
    // The primary key covers it; it exists for the foreign key of sends.
    const implied = 'applications_id_account_id_mode_key';
    const covered = new Set([...statements.map(({ refusedBy }) => refusedBy), implied]);
    const names = [...rows.map((row) => row.name), ...(await rulesOfSends())];
    expect(names.filter((name) => !covered.has(name) && !/^sends_\w+_check$/.test(name))).toEqual([]);
  });
});

describe('the schema', () => {
  let models: Model[];
  beforeAll(async () => {
    models = parse(await readFile(new URL('../../../../prisma/schema.prisma', import.meta.url), 'utf8'));
  });

  interface Model {
    table: string;
    /** Each column as `type` or `type | null`. */
    columns: Record<string, string>;
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
    'Json @db.Json': 'json',
    'DateTime @db.Date': 'date',
    'DateTime @db.Timestamptz(3)': 'timestamp(3) with time zone',
    'DateTime @db.Timestamptz(6)': 'timestamp(6) with time zone',
  };

  /** Parses the part of the Prisma schema language that our schema uses. */
  function parse(text: string): Model[] {
    const blocks = [...text.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)];
    const names = new Set(blocks.map(([, name]) => name));
    return blocks.map(([, name, body = '']) => {
      const table = /@@map\("(\w+)"\)/.exec(body)?.[1];
      if (table === undefined) throw new Error(`model ${name} names no table`);
      const columns: Record<string, string> = {};
      for (const line of body.split('\n')) {
        const [, field, type, form, attributes = ''] =
          /^ {2}(\w+)\s+(\w+)(\?|\[\])?(?: +(.*))?$/.exec(line) ?? [];
        if (field === undefined || type === undefined || names.has(type)) continue;
        const native = /@db\.\w+(?:\([\d, ]+\))?/.exec(attributes)?.[0];
        const key = native === undefined ? type : `${type} ${native}`;
        const columnType = TYPES[key];
        if (columnType === undefined) throw new Error(`${name}.${field}: what is ${key} in PostgreSQL?`);
        // Prisma reads null as an empty list, so a list may always be null.
        columns[/@map\("(\w+)"\)/.exec(attributes)?.[1] ?? field] =
          form === '[]' ? `${columnType}[] | null` : form === '?' ? `${columnType} | null` : columnType;
      }
      return { table, columns };
    });
  }

  it('has the tables and columns of prisma/schema.prisma', async () => {
    const rows = await store.sql<{ table: string; columns: Record<string, string> }>(
      `select c.relname as table, json_object_agg(
         a.attname, format_type(a.atttypid, a.atttypmod) || case when a.attnotnull then '' else ' | null' end
       ) as columns
       from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
         and c.relname <> '_prisma_migrations' group by 1`,
    );
    const byTable = (tables: readonly Model[]) =>
      Object.fromEntries(tables.map(({ table, columns }) => [table, columns]));
    expect(byTable(models)).toEqual(byTable(rows));
  });

  it('has no index on columns of sends that a claim, guess or receipt changes, which allows HOT updates', async () => {
    const [looked] = await store.sql<{ columns: string[] }>(
      `select array_agg(distinct a.attname::text) as columns
       from pg_index i join pg_attribute a on a.attrelid = i.indrelid and (
         a.attnum = any(i.indkey) or exists (
           select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
             and d.refclassid = 'pg_class'::regclass and d.refobjid = i.indrelid and d.refobjsubid = a.attnum
         )
       ) where i.indrelid = 'sends'::regclass`,
    );
    // The columns `failed_at` and `locked_at` change once, for few sends, so they may have an index.
    expect(looked!.columns).toEqual(expect.arrayContaining(['id', 'due_at', 'failed_at', 'locked_at']));
    const changed =
      'status phase verification wrong_guess_times sent_at delivered_at read_at verified_at version attempts attempt_number ' +
      'claimed_at claimed_until sender_id pricing';
    expect(changed.split(' ').filter((column) => looked!.columns.includes(column))).toEqual([]);
  });
});
