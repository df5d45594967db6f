import { concurrentIndex } from '@onecode/store/migrations';
import { until } from '@onecode/testing';
import pg from 'pg';
import { useMigrationFolder } from './migrationFolder.js';

const { url, up, write, sql, applied } = useMigrationFolder();

describe('migrating beside a service that runs', () => {
  it('gives up, and holds up nobody, when a table is not to be had', async () => {
    await write('1_first', 'create table made (n integer);');
    await up();
    await write('2_second', 'alter table made add m integer;');
    const backup = new pg.Client({ connectionString: url() });
    await backup.connect();
    try {
      await backup.query('begin; select from made');
      await expect(up()).rejects.toThrow('lock timeout');
      expect(await sql('select n from made')).toEqual([]);
      expect(await applied()).toEqual(['1_first']);
    } finally {
      await backup.end();
    }
    expect(await up()).toEqual(['2_second']);
  });

  it('steps back from a deadlock, so that the service’s statement is not its victim', async () => {
    await write('1_first', 'create table made (n integer); create table other (n integer);');
    await up();
    await write('2_second', 'alter table made add m integer; alter table other add m integer;');
    const service = new pg.Client({ connectionString: url() });
    await service.connect();
    try {
      await service.query('begin; select from other');
      const migration = up();
      await until('a migration that waits for the second table', async () => {
        const waiting = await sql(
          `select from pg_locks where not granted and relation = 'other'::regclass and mode = 'AccessExclusiveLock'`,
        );
        return waiting.length > 0;
      });
      await service.query('select from made');
      await service.query('commit');
      expect(await migration).toEqual(['2_second']);
    } finally {
      await service.end();
    }
  });

  const INDEX = '-- Beside the service.\ncreate index concurrently made_n on made (n);';
  const indexes = () =>
    sql(
      `select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indrelid = 'made'::regclass`,
    );

  it('builds an index while others write, and when several start at once', async () => {
    await write('1_first', 'create table made (n integer);');
    await up();
    await write('2_second', INDEX);
    const writer = new pg.Client({ connectionString: url() });
    await writer.connect();
    try {
      await writer.query('begin; insert into made values (1)');
      const migrations = Promise.all([up(), up(), up()]);
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
    await up();
    await write('2_second', INDEX.replace('index', 'unique index'));
    await expect(up()).rejects.toThrow('made_n');
    expect(await indexes()).toEqual([{ name: 'made_n', valid: false }]);
    expect(await applied()).toEqual(['1_first']);
    await sql('delete from made');
    expect(await up()).toEqual(['2_second']);
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
});
