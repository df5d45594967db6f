import { readFile } from 'node:fs/promises';
import { newId } from '@onecode/store';
import { buildCaller, buildSend, buildSender, useTestDatabase } from '@onecode/testing';

const store = useTestDatabase();

describe('the database', () => {
  interface Statement {
    sql: string;
    /** The constraint or rule that refuses it; null for one that is valid. */
    refusedBy: string | null;
  }

  let statements: Statement[];

  /** The statements of rows.sql, with the ids of rows in place of their names. */
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

  /** The constraint by which PostgreSQL refuses a statement, or null when it does not. */
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
         regexp_count(prosrc, 'when not') as count
       from pg_proc where proname = 'send_is_valid'`,
    );
    expect(known?.names).toHaveLength(known?.count ?? 0);
    return known?.names ?? [];
  }

  /** A change of a send as a new row. */
  const asNewSend = (change: string): string =>
    `create temporary table invalid on commit drop as select * from sends where ${/id = '[^']+'$/.exec(change)?.[0]};
     ${change.replace('update sends', 'update invalid')};
     insert into sends select * from invalid`;

  it('accepts and refuses each row of rows.sql as it says there, a new send by the same rule as a change to one', async () => {
    const rules = await rulesOfSends();
    for (const { sql, refusedBy } of statements) {
      expect([sql, await refusalOf(sql)]).toEqual([sql, refusedBy]);
      if (refusedBy !== null && rules.includes(refusedBy))
        expect([sql, await refusalOf(asNewSend(sql))]).toEqual([sql, refusedBy]);
    }
  });

  it('names a broken rule of sends as it names a check, and does not show the row', async () => {
    const error = await store.sql('update sends set attempts = -1').catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: '23514',
      table: 'sends',
      constraint: 'sends_attempts_check',
      message: 'new row for relation "sends" violates check constraint "sends_attempts_check"',
    });
    expect((error as { detail?: string }).detail).toBeUndefined();
  });

  it('has an invalid row there for every check and unique index', async () => {
    const rows = await store.sql<{ name: string }>(
      `select conname as name from pg_constraint
         where connamespace = 'public'::regnamespace and contype = 'c' and conrelid <> 0
       union
       select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
         where i.indisunique and not i.indisprimary and c.relnamespace = 'public'::regnamespace`,
    );
    const implied = [
      // By the primary key; it is there for the foreign key of sends.
      'applications_id_account_id_mode_key',
      // It is never named itself: its rules are.
      'sends_are_valid',
    ];
    const covered = new Set([...statements.map(({ refusedBy }) => refusedBy), ...implied]);
    const names = [...rows.map((row) => row.name), ...(await rulesOfSends())];
    expect(names.filter((name) => !covered.has(name))).toEqual([]);
  });
});

describe('schema', () => {
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
    'Decimal @db.Decimal(12, 6)': 'numeric(12,6)',
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
          const [, field, type, form, attributes] =
            /^ {2}(\w+)\s+(\w+)(\?|\[\])?(?: +(.*))?$/.exec(line) ?? [];
          if (field === undefined || type === undefined || names.has(type)) continue;
          const column = /@map\("(\w+)"\)/.exec(attributes ?? '')?.[1] ?? field;
          const native = /@db\.\w+(?:\([\d, ]+\))?/.exec(attributes ?? '')?.[0];
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
    it('look at nothing that a claim, a guess or a receipt changes, which so updates its row in place', async () => {
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
      expect(looked!.columns).toEqual(expect.arrayContaining(['id', 'due_at', 'failed_at', 'locked_at']));
      const changed =
        'status verification wrong_guesses wrong_guess_times sent_at delivered_at read_at verified_at version attempts attempt_number ' +
        'claimed_at claimed_until sender_id pricing';
      expect(changed.split(' ').filter((column) => looked!.columns.includes(column))).toEqual([]);
    });
  });
});
