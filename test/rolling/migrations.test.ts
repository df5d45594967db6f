import { createTestDatabase, type TestDatabase } from '@onecode/testing';
import type pg from 'pg';
import { parseContract } from '@onecode/domain';
import { concurrentIndex, readMigrations, type Migration } from '@onecode/store/migrations';

/** The parts of a schema that statements of a release rely on, one per line. */
const RELIED_ON = `
  select format('column %s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' end) as line
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
  union all
  select format('default of %s.%s', d.adrelid::regclass, a.attname)
  from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
  union all
  select format('function %s(%s) → %s', proname, pg_get_function_arguments(oid), pg_get_function_result(oid))
  from pg_proc where pronamespace = 'public'::regnamespace
  union all
  select 'unique index on ' || regexp_replace(pg_get_indexdef(indexrelid), '^.* ON public\\.', '')
  from pg_index x join pg_class c on c.oid = x.indrelid where indisunique and c.relnamespace = 'public'::regnamespace
  order by 1`;

const NAMES = (relation: string, keys: string): string =>
  `array(select a.attname::text from pg_attribute a where a.attrelid = ${relation} and a.attnum = any (${keys}))`;

/**
 * The parts of a schema that can refuse a write, with the columns that each reads: required columns without a default, checks, foreign
 * keys, unique indexes, triggers.
 */
const GUARDS = `
  select k.conrelid::regclass::text as table, k.conname || ' ' || pg_get_constraintdef(k.oid) as line, ${NAMES('k.conrelid', 'k.conkey')} as columns
  from pg_constraint k where k.connamespace = 'public'::regnamespace and k.contype in ('c', 'f', 'x') and k.conrelid <> 0
  union all
  select x.indrelid::regclass::text, pg_get_indexdef(x.indexrelid), ${NAMES('x.indrelid', 'x.indkey')}
  from pg_index x join pg_class c on c.oid = x.indrelid where x.indisunique and c.relnamespace = 'public'::regnamespace
  union all
  select t.tgrelid::regclass::text, pg_get_triggerdef(t.oid), '{}'
  from pg_trigger t join pg_class c on c.oid = t.tgrelid where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
  union all
  select a.attrelid::regclass::text, format('required column %s', a.attname), '{}'
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    and a.attnotnull and not a.atthasdef and a.attidentity = ''
  order by 1, 2`;

interface Guard {
  table: string;
  line: string;
  /** Empty if it reads more than columns. */
  columns: string[];
}

let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  client = await db.connect();
});
afterAll(async () => {
  await client.end();
  await db.drop();
});
beforeEach(async () => {
  await client.query('begin');
  await client.query('drop schema public cascade; create schema public');
});
afterEach(() => client.query('rollback'));

const relied = async (): Promise<string[]> =>
  (await client.query<{ line: string }>(RELIED_ON)).rows.map(({ line }) => line);
const guards = async (): Promise<Guard[]> => (await client.query<Guard>(GUARDS)).rows;

/**
 * Returns the parts of the earlier schema that a migration may break. A guard on only new columns reads what the previous release leaves
 * there: their defaults, which the guard must allow. A guard that a line `-- refuses nothing new: <why>` explains is accepted.
 */
async function breaksOf(sql: string): Promise<string[]> {
  const [lines, oldGuards] = [await relied(), await guards()];
  const columns = new Set(lines.flatMap((line) => /^column (\S+)/.exec(line)?.[1] ?? []));
  const tables = new Set([...columns].map((column) => column.split('.')[0]));
  // The test runs in one transaction, in which no index can be built concurrently.
  await client.query(concurrentIndex(sql) === null ? sql : sql.replace(' concurrently ', ' '));
  const left = new Set(await relied());
  const known = new Set(oldGuards.map(({ table, line }) => `${table} ${line}`));
  const isVouchedFor = /^-- refuses nothing new: +\S/m.test(sql);
  const added = (await guards()).filter(
    ({ table, line, columns: looks }) =>
      !isVouchedFor &&
      tables.has(table) &&
      !known.has(`${table} ${line}`) &&
      (looks.length === 0 || looks.some((name) => columns.has(`${table}.${name}`))),
  );
  return [
    ...lines.filter((line) => !left.has(line)).map((line) => `gone: ${line}`),
    ...added.map(({ table, line }) => `new on ${table}: ${line}`),
  ];
}

describe('the migrations of this repository', () => {
  it('break nothing that the previous release needs, except contracting migrations', async () => {
    const [first, ...later] = (await readMigrations()) as [Migration, ...Migration[]];
    await client.query(first.sql);
    const broken: string[] = [];
    for (const migration of later) {
      const found = await breaksOf(migration.sql);
      if (parseContract(migration.name) === null)
        broken.push(...found.map((line) => `${migration.name}: ${line}`));
    }
    expect(broken).toEqual([]);
  });
});

describe('a change of the schema', () => {
  beforeEach(() =>
    client.query(`
      create table things (
        id integer primary key, name text not null default 'none', note text, state text check (state in ('new', 'old')),
        code text constraint one_code unique
      );
      create function double(n integer) returns integer language sql as 'select n * 2';`),
  );

  it.each<[string, RegExp]>([
    ['drop table things', /^gone: column things\.id integer not null$/m],
    [`do $$ begin execute 'alter table things ' || 'drop note'; end $$`, /^gone: column things\.note text$/],
    ['alter table things rename note to remark', /^gone: column things\.note text$/],
    ['alter table things alter note type varchar(9)', /^gone: column things\.note text$/],
    ['alter table things alter note set not null', /^new on things: required column note$/m],
    ['alter table things alter name drop not null', /^gone: column things\.name text not null$/],
    ['alter table things alter name drop default', /^gone: default of things\.name$/m],
    ['alter table things add weight integer not null', /^new on things: required column weight$/],
    ['drop function double', /^gone: function double\(n integer\) → integer$/],
    [`alter table things add constraint has_note check (note <> '') not valid`, /^new on things: has_note /],
    [
      'alter table things add weight integer, add constraint noted check (note is null or weight is not null)',
      /^new on things: noted /,
    ],
    ['create unique index one_note on things (lower(note))', /^new on things: .*one_note/],
    ['alter table things drop constraint one_code', /^gone: unique index on things USING btree \(code\)$/],
    [
      `create function stop() returns trigger language plpgsql as 'begin return null; end';
       create trigger halt before insert on things for each row execute function stop()`,
      /^new on things: CREATE TRIGGER halt /,
    ],
    [
      `-- refuses nothing new: the words are the same.
       alter table things drop note, drop constraint things_state_check, add check (state = any ('{new,old}'))`,
      /^gone: column things\.note text$/,
    ],
  ])('is found to break the previous release: %s', async (sql, found) => {
    expect((await breaksOf(sql)).join('\n')).toMatch(found);
  });

  it.each([
    'create table extras (id integer primary key, thing_id integer not null references things)',
    'alter table things add weight integer check (weight > 0)',
    'alter table things add weight integer not null default 1, add number integer generated always as identity',
    'create index concurrently things_note on things (note);',
    `create or replace function double(n integer) returns integer language sql as 'select n + n';
     create function double(n integer, m integer) returns integer language sql as 'select n * m'`,
    `-- refuses nothing new: the words are the same.
     alter table things drop constraint things_state_check, add check (state = any ('{new,old}'))`,
    'alter table things drop constraint things_state_check',
    `insert into things (id) values (1); update things set note = 'seen'`,
  ])('is accepted: %s', async (sql) => {
    expect(await breaksOf(sql)).toEqual([]);
  });
});
