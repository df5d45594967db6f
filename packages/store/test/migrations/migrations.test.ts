import { migrate, MigrationBlocked, MigrationMismatch } from '@onecode/store/migrations';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestDatabase, until } from '@onecode/testing';
import { FOLDER, ours, useMigrationFolder } from './migrationFolder.js';

const { up, upOurs, write, remove, sql, applied } = useMigrationFolder();

const SHAPE = `
  select table_name, column_name, data_type, is_nullable, column_default
  from information_schema.columns where table_schema = 'public' order by table_name, column_name`;

describe('migrating', () => {
  it('brings an empty database to the newest schema, and does nothing when run again', async () => {
    expect(await upOurs()).toEqual(await ours());
    expect(await upOurs()).toEqual([]);
    const template = await createTestDatabase();
    expect(await sql(SHAPE)).toEqual(await sql(SHAPE, template.url));
    await template.drop();
  });

  it('applies each migration once when eight start at once', async () => {
    const runs = await Promise.all(Array.from({ length: 8 }, () => upOurs()));
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
    expect(await up()).toEqual(['20260101_first', '20260102_second', '20260103_third']);
    expect(await sql('select n from made order by n')).toEqual([{ n: 1 }, { n: 2 }, { n: 8 }]);
  });

  it('leaves nothing of a migration that fails, keeps those before it, and tries it again', async () => {
    await write('1_first', 'create table made (n integer);');
    await write('2_second', 'insert into made values (2); insert into unmade values (2);');
    await write('3_third', 'insert into made values (3);');
    await expect(up()).rejects.toThrow();
    expect(await applied()).toEqual(['1_first']);
    expect(await sql('select n from made')).toEqual([]);
    await write('2_second', 'insert into made values (2);');
    expect(await up()).toEqual(['2_second', '3_third']);
    expect(await sql('select n from made order by n')).toEqual([{ n: 2 }, { n: 3 }]);
  });

  it('writes a migration together with its entry in the journal or not at all', async () => {
    await write(
      '1_first',
      `create table made (n integer);
       alter table _prisma_migrations add check (migration_name <> '1_first');`,
    );
    await expect(up()).rejects.toThrow();
    expect(await applied()).toEqual([]);
    expect(await sql(`select to_regclass('made') as made`)).toEqual([{ made: null }]);
  });

  it('refuses to go on when an applied migration has changed since, and applies nothing', async () => {
    await write('1_first', 'create table made (n integer);');
    await up();
    await write('1_first', 'create table made (n integer); -- changed');
    await write('2_second', 'insert into made values (2);');
    await expect(up()).rejects.toBeInstanceOf(MigrationMismatch);
    await expect(up()).rejects.toThrow('1_first');
    expect(await applied()).toEqual(['1_first']);
    expect(await sql('select n from made')).toEqual([]);
  });

  it('refuses a database that was made with other migrations, and applies nothing', async () => {
    await write('0_other', 'create table made (n integer);');
    await up();
    await remove('0_other');
    await write('1_first', 'create table made (n integer);');
    await expect(up()).rejects.toThrow('the database was made before release 0.9.0');
    expect(await applied()).toEqual(['0_other']);
  });

  it('does not mind a newer release that went before it', async () => {
    await write('1_first', 'create table made (n integer);');
    await write('2_second', 'insert into made values (2);');
    await up();
    await remove('2_second');
    expect(await up()).toEqual([]);
  });

  it('waits for another one, says for which, and not for ever', async () => {
    const other = await createTestDatabase();
    const holder = await other.connect();
    // By a session: it need not be one of ours.
    await holder.query('select pg_advisory_lock(7165201)');
    const [{ pid }] = (await holder.query('select pg_backend_pid() as pid')).rows as [{ pid: number }];
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    const blocked = migrate(other.url, undefined, { log, waitMsMax: 300 });
    await expect(blocked).rejects.toThrow(new RegExp(`^after 0 seconds process ${pid} of PostgreSQL`));
    await expect(blocked).rejects.toBeInstanceOf(MigrationBlocked);
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(`^Waiting for another migration: process ${pid} of PostgreSQL .* UTC, holds`),
      ),
    ]);
    const waiting = migrate(other.url, undefined, { log });
    await until('another wait', () => lines.length === 2);
    await holder.end();
    expect(await waiting).toEqual([]);
    await other.drop();
  });
});

describe('the journal', () => {
  it('has the columns of Prisma’s own, so that Prisma can take over', async () => {
    await upOurs();
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
    await upOurs();
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
