import { closeDatabase, openDatabase } from '@onecode/store';
import { commitsInSteps, concurrentIndex, migrate, MigrationMismatch } from '@onecode/store/migrations';
import { buildCaller, buildSend, createTestDatabase } from '@onecode/store/testing';
import { createHash, randomBytes } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { until } from '../../../test/harness/until.js';

const FOLDER = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

let server: pg.Client;
let url: string;
let folder: string;
let name: string;

beforeEach(async () => {
  server = new pg.Client({ connectionString: process.env['TEST_DATABASE_URL'] });
  await server.connect();
  name = `onecode_test_${randomBytes(6).toString('hex')}`;
  await server.query(`create database ${name}`);
  const address = new URL(process.env['TEST_DATABASE_URL'] as string);
  address.pathname = `/${name}`;
  url = address.href;
  folder = await mkdtemp(join(tmpdir(), 'onecode-migrations-'));
});
afterEach(async () => {
  await server.query(`drop database ${name} with (force)`);
  await server.end();
  await rm(folder, { recursive: true });
});

async function sql<Row extends object>(text: string, from: string = url): Promise<Row[]> {
  const client = new pg.Client({ connectionString: from });
  await client.connect();
  try {
    return (await client.query(text)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function write(migration: string, text: string): Promise<void> {
  await mkdir(join(folder, migration), { recursive: true });
  await writeFile(join(folder, migration, 'migration.sql'), text);
}

const ours = async (): Promise<string[]> =>
  (await readdir(FOLDER, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();
const applied = async (): Promise<string[]> =>
  (
    await sql<{ migration_name: string }>('select migration_name from _prisma_migrations order by started_at')
  ).map((row) => row.migration_name);
const SHAPE = `
  select table_name, column_name, data_type, is_nullable, column_default
  from information_schema.columns where table_schema = 'public' order by table_name, column_name`;

describe('migrating', () => {
  it('brings an empty database to the newest schema, and does nothing when run again', async () => {
    expect(await migrate(url)).toEqual(await ours());
    expect(await migrate(url)).toEqual([]);
    const template = await createTestDatabase();
    expect(await sql(SHAPE)).toEqual(await sql(SHAPE, template.url));
    await template.drop();
  });

  it('applies each migration once when eight start at once', async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, () => migrate(url)));
    expect(runs.flat().toSorted()).toEqual(await ours());
    expect(await applied()).toEqual(await ours());
    expect(await sql('select * from settings')).toHaveLength(1);
  });

  it('applies folders in the order of their names, functions with semicolons included', async () => {
    await write('20260103_third', 'insert into made select twice(4);');
    await write('20260102_second', 'insert into made values (1); insert into made values (2);');
    await write(
      '20260101_first',
      `create table made (n integer);
       create function twice(n integer) returns integer language plpgsql as $$
       begin
         -- one; two;
         return n * 2;
       end
       $$;`,
    );
    expect(await migrate(url, folder)).toEqual(['20260101_first', '20260102_second', '20260103_third']);
    expect(await sql('select n from made order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 8 }]);
  });

  it('goes on where an older release stopped', async () => {
    await write('1_first', 'create table made (n integer);');
    await migrate(url, folder);
    await write('2_second', 'insert into made values (2);');
    expect(await migrate(url, folder)).toEqual(['2_second']);
    expect(await sql('select n from made')).toEqual([{ n: 2 }]);
  });

  it('leaves nothing of a migration that fails, keeps those before it, and tries it again', async () => {
    await write('1_first', 'create table made (n integer);');
    await write('2_second', 'insert into made values (2); insert into unmade values (2);');
    await write('3_third', 'insert into made values (3);');
    await expect(migrate(url, folder)).rejects.toThrow();
    expect(await applied()).toEqual(['1_first']);
    expect(await sql('select n from made')).toEqual([]);
    await write('2_second', 'insert into made values (2);');
    expect(await migrate(url, folder)).toEqual(['2_second', '3_third']);
    expect(await sql('select n from made order by n')).toEqual([{ n: 2 }, { n: 3 }]);
  });

  it('writes a migration together with its entry in the journal or not at all', async () => {
    await write(
      '1_first',
      `create table made (n integer);
       alter table _prisma_migrations add check (migration_name <> '1_first');`,
    );
    await expect(migrate(url, folder)).rejects.toThrow();
    expect(await applied()).toEqual([]);
    expect(await sql(`select to_regclass('made') as made`)).toEqual([{ made: null }]);
  });

  it('refuses to go on when an applied migration has changed since, and applies nothing', async () => {
    await write('1_first', 'create table made (n integer);');
    await migrate(url, folder);
    await write('1_first', 'create table made (n integer); -- changed');
    await write('2_second', 'insert into made values (2);');
    await expect(migrate(url, folder)).rejects.toBeInstanceOf(MigrationMismatch);
    await expect(migrate(url, folder)).rejects.toThrow('1_first');
    expect(await applied()).toEqual(['1_first']);
    expect(await sql('select n from made')).toEqual([]);
  });

  it('does not mind a newer release that went before it', async () => {
    await write('1_first', 'create table made (n integer);');
    await write('2_second', 'insert into made values (2);');
    await migrate(url, folder);
    await rm(join(folder, '2_second'), { recursive: true });
    expect(await migrate(url, folder)).toEqual([]);
  });

  it('gives up, and holds up nobody, when a table is not to be had', async () => {
    await write('1_first', 'create table made (n integer);');
    await migrate(url, folder);
    await write('2_second', 'alter table made add m integer;');
    const backup = new pg.Client({ connectionString: url });
    await backup.connect();
    try {
      await backup.query('begin; select from made');
      await expect(migrate(url, folder)).rejects.toThrow('lock timeout');
      expect(await sql('select n from made')).toEqual([]);
      expect(await applied()).toEqual(['1_first']);
    } finally {
      await backup.end();
    }
    expect(await migrate(url, folder)).toEqual(['2_second']);
  });

  const INDEX = '-- Beside the service.\ncreate index concurrently made_n on made (n);';
  const indexes = () =>
    sql(
      `select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indrelid = 'made'::regclass`,
    );

  it('builds an index while others write, and when several start at once', async () => {
    await write('1_first', 'create table made (n integer);');
    await migrate(url, folder);
    await write('2_second', INDEX);
    const writer = new pg.Client({ connectionString: url });
    await writer.connect();
    try {
      await writer.query('begin; insert into made values (1)');
      const migrations = Promise.all([migrate(url, folder), migrate(url, folder), migrate(url, folder)]);
      await until('an index under construction', async () => (await indexes()).length > 0);
      await sql('insert into made values (2)');
      await writer.query('commit');
      expect((await migrations).flat()).toEqual(['2_second']);
    } finally {
      await writer.end();
    }
    expect(await indexes()).toEqual([{ name: 'made_n', valid: true }]);
    expect(await applied()).toEqual(['1_first', '2_second']);
  });

  it('builds an index again whose building was cut off', async () => {
    await write('1_first', 'create table made (n integer); insert into made values (1), (1);');
    await migrate(url, folder);
    await write('2_second', INDEX.replace('index', 'unique index'));
    await expect(migrate(url, folder)).rejects.toThrow('made_n');
    expect(await indexes()).toEqual([{ name: 'made_n', valid: false }]);
    expect(await applied()).toEqual(['1_first']);
    await sql('delete from made');
    expect(await migrate(url, folder)).toEqual(['2_second']);
    expect(await indexes()).toEqual([{ name: 'made_n', valid: true }]);
  });

  it.each([
    ['create index concurrently made_n on made (n);', 'made_n'],
    ['-- Why.\n\ncreate unique index concurrently made_n on made (n) where n > 0;\n', 'made_n'],
    ['create index made_n on made (n);', null],
    ['-- create index concurrently made_n on made (n);\nselect 1;', null],
    ['create index concurrently made_n on made (n); select 1;', null],
    ['select 1; create index concurrently made_n on made (n);', null],
  ])('takes only a single statement out of its transaction: %j', (text, index) => {
    expect(concurrentIndex(text)).toBe(index);
  });

  const STEPS = (change: string): string => `-- Why.
    do $$
    declare v_n integer;
    begin
      for v_n in select n from made where n < 10 order by n loop
        ${change};
        commit;
      end loop;
    end
    $$;`;

  it('changes rows step by step, keeps the steps of one that was cut off, and goes on there', async () => {
    await write(
      '1_first',
      'create table made (n integer check (n <> 12)); insert into made values (1), (2), (3);',
    );
    await migrate(url, folder);
    await write('2_second', STEPS('update made set n = v_n + 10 where n = v_n'));
    await expect(migrate(url, folder)).rejects.toThrow('made_n_check');
    expect(await applied()).toEqual(['1_first']);
    expect(await sql('select n from made order by n')).toEqual([{ n: 2 }, { n: 3 }, { n: 11 }]);
    await sql('alter table made drop constraint made_n_check');
    expect(await migrate(url, folder)).toEqual(['2_second']);
    expect(await sql('select n from made order by n')).toEqual([{ n: 11 }, { n: 12 }, { n: 13 }]);
  });

  it('gives up a step whose row is not to be had', async () => {
    await write('1_first', 'create table made (n integer); insert into made values (1), (2);');
    await migrate(url, folder);
    await write('2_second', STEPS('update made set n = v_n + 10 where n = v_n'));
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    try {
      await other.query('begin; update made set n = n where n = 2');
      await expect(migrate(url, folder)).rejects.toThrow('lock timeout');
    } finally {
      await other.end();
    }
    expect(await sql('select n from made order by n')).toEqual([{ n: 2 }, { n: 11 }]);
  });

  it.each([
    [STEPS('null'), true],
    ['do $$ begin null; end $$;', false],
    [`${STEPS('null')} select 1;`, false],
    [`select 1; ${STEPS('null')}`, false],
    ['do $$ begin null; end $$; commit; do $$ begin null; end $$;', false],
  ])('takes only a single block out of its transaction: %j', (text, inSteps) => {
    expect(commitsInSteps(text)).toBe(inSteps);
  });

  it('gives its lock back, also after a failure', async () => {
    await write('1_first', 'nonsense;');
    await expect(migrate(url, folder)).rejects.toThrow();
    await write('1_first', 'create table made (n integer);');
    expect(await migrate(url, folder)).toEqual(['1_first']);
  });
});

describe('sends that were locked before release 1.2.0', () => {
  it('get the time of their last wrong guess, or of their creation where no times were kept', async () => {
    for (const one of (await ours()).filter((each) => each < '20261122170000'))
      await cp(join(FOLDER, one), join(folder, one), { recursive: true });
    await migrate(url, folder);
    const database = openDatabase(url, { connectionsMax: 1 });
    try {
      const caller = await buildCaller(database, 'test');
      for (const change of [
        `wrong_guesses = 5, verification = 'locked', wrong_guess_times = null`,
        `wrong_guesses = 5, verification = 'locked', wrong_guess_times = '{2026-11-20 10:00:01, 2026-11-20 10:00:05}'`,
        'wrong_guesses = 4',
      ])
        await sql(`update sends set ${change} where id = '${await buildSend(database, caller)}'`);
    } finally {
      await closeDatabase(database);
    }
    await migrate(url);
    const rows = await sql(
      `select locked_at = created_at as when_made, locked_at = '2026-11-20 10:00:05' as when_guessed
       from sends order by account_number`,
    );
    expect(rows).toEqual([
      { when_made: true, when_guessed: false },
      { when_made: false, when_guessed: true },
      { when_made: null, when_guessed: null },
    ]);
  });
});

describe('the journal', () => {
  it('has the columns of Prisma’s own, so that Prisma can take over', async () => {
    await migrate(url);
    const columns = await sql(
      `select column_name, format_type(atttypid, atttypmod) as type, is_nullable, column_default
       from information_schema.columns join pg_attribute
         on attrelid = '_prisma_migrations'::regclass and attname = column_name
       where table_name = '_prisma_migrations' order by attnum`,
    );
    const column = (
      column_name: string,
      type: string,
      is_nullable: string,
      column_default: string | null = null,
    ) => ({ column_name, type, is_nullable, column_default });
    expect(columns).toEqual([
      column('id', 'character varying(36)', 'NO'),
      column('checksum', 'character varying(64)', 'NO'),
      column('finished_at', 'timestamp with time zone', 'YES'),
      column('migration_name', 'character varying(255)', 'NO'),
      column('logs', 'text', 'YES'),
      column('rolled_back_at', 'timestamp with time zone', 'YES'),
      column('started_at', 'timestamp with time zone', 'NO', 'now()'),
      column('applied_steps_count', 'integer', 'NO', '0'),
    ]);
  });

  it('holds each migration as Prisma would: the SHA-256 of the file, finished, in one step', async () => {
    await migrate(url);
    const rows = await sql<{ id: string; migration_name: string; checksum: string }>(
      `select *, finished_at >= started_at as finished from _prisma_migrations order by migration_name`,
    );
    expect(rows).toHaveLength((await ours()).length);
    for (const row of rows) {
      const text = await readFile(join(FOLDER, row.migration_name, 'migration.sql'));
      expect(row).toMatchObject({
        checksum: createHash('sha256').update(text).digest('hex'),
        finished: true,
        rolled_back_at: null,
        logs: null,
        applied_steps_count: 1,
      });
      expect(row.id).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});
