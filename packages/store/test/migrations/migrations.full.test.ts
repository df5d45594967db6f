import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  concurrentIndex,
  ContractRefused,
  migrate,
  MigrationBlocked,
  MigrationMismatch,
  readMigrations,
} from '@onecode/store/migrations';
import { createEmptyDatabase, createTestDatabase, until, type TestDatabase } from '@onecode/testing';

let db: TestDatabase;
/** A folder of migrations. */
let folder: string;
beforeEach(async () => {
  db = await createEmptyDatabase();
  folder = await mkdtemp(join(tmpdir(), 'onecode-migrations-'));
});
afterEach(async () => {
  await db.drop();
  await rm(folder, { recursive: true });
});

const sql = (text: string) => db.sql(text);
/** Applies the folder's migrations. */
const up = (options?: Parameters<typeof migrate>[2]) => migrate(db.url, folder, options);
/** Applies this repository's migrations. */
const upOurs = () => migrate(db.url);
async function write(migration: string, text: string): Promise<void> {
  await mkdir(join(folder, migration), { recursive: true });
  await writeFile(join(folder, migration, 'migration.sql'), text);
}
const remove = (migration: string) => rm(join(folder, migration), { recursive: true });
/** Returns the names in the journal. */
const applied = async () =>
  (await sql('select migration_name as name from _prisma_migrations order by started_at')).map(
    ({ name }) => name,
  );

describe('migrate', () => {
  it('migrates an empty database to the newest schema, once for concurrent calls', async () => {
    const names = (await readMigrations()).map(({ name }) => name);
    const runs = await Promise.all(Array.from({ length: 8 }, upOurs));
    expect(runs.flat().toSorted()).toEqual(names);
    expect(await applied()).toEqual(names);
    expect(await upOurs()).toEqual([]);
  });

  it('applies folders in the order of their names, with functions that contain semicolons', async () => {
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

  it('rolls back a failed migration, keeps the earlier migrations, and retries it in the next call', async () => {
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

  it('writes a migration and its journal entry atomically', async () => {
    await write(
      '1_first',
      `create table made (n integer);
       alter table _prisma_migrations add check (migration_name <> '1_first');`,
    );
    await expect(up()).rejects.toThrow();
    expect(await applied()).toEqual([]);
    expect(await sql(`select to_regclass('made') as made`)).toEqual([{ made: null }]);
  });

  it('applies nothing if an applied migration has changed', async () => {
    await write('1_first', 'create table made (n integer);');
    await up();
    await write('1_first', 'create table made (n integer); -- changed');
    await write('2_second', 'insert into made values (2);');
    await expect(up()).rejects.toBeInstanceOf(MigrationMismatch);
    await expect(up()).rejects.toThrow('1_first');
    expect(await applied()).toEqual(['1_first']);
    expect(await sql('select n from made')).toEqual([]);
  });

  it('applies nothing to a database with other migrations', async () => {
    await write('0_other', 'create table made (n integer);');
    await up();
    await remove('0_other');
    await write('1_first', 'create table made (n integer);');
    await expect(up()).rejects.toThrow('the database was created before release 0.9.0');
    expect(await applied()).toEqual(['0_other']);
  });

  it('accepts applied migrations of a newer release', async () => {
    await write('1_first', 'create table made (n integer);');
    await write('2_second', 'insert into made values (2);');
    await up();
    await remove('2_second');
    expect(await up()).toEqual([]);
  });

  it('waits for another migration up to a limit, and logs the process that holds the lock', async () => {
    const other = await createTestDatabase();
    const holder = await other.connect();
    // The lock may also be held by a session of another program.
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

describe('migrate next to a running service', () => {
  it('gives up without blocking the service if it cannot lock a table', async () => {
    await write('1_first', 'create table made (n integer);');
    await up();
    await write('2_second', 'alter table made add m integer;');
    const backup = await db.connect();
    await backup.query('begin; select from made');
    await expect(up()).rejects.toThrow('lock timeout');
    expect(await sql('select n from made')).toEqual([]);
    expect(await applied()).toEqual(['1_first']);
    await backup.end();
    expect(await up()).toEqual(['2_second']);
  });

  it('rolls back in a deadlock, so that the service’s statement succeeds, and tries again', async () => {
    await write('1_first', 'create table made (n integer); create table other (n integer);');
    await up();
    await write('2_second', 'alter table made add m integer; alter table other add m integer;');
    const service = await db.connect();
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
    await service.end();
  });

  const INDEX = '-- Concurrently.\ncreate index concurrently made_n on made (n);';
  const indexes = () =>
    sql(
      `select indexrelid::regclass::text as name, indisvalid as valid from pg_index where indrelid = 'made'::regclass`,
    );

  it('builds an index concurrently, with writes and other migrations in progress', async () => {
    await write('1_first', 'create table made (n integer);');
    await up();
    await write('2_second', INDEX);
    const writer = await db.connect();
    await writer.query('begin; insert into made values (1)');
    const migrations = Promise.all([up(), up(), up()]);
    await until('an index under construction', async () => (await indexes()).length > 0);
    await sql('insert into made values (2)');
    await writer.query('commit');
    expect((await migrations).flat()).toEqual(['2_second']);
    await writer.end();
    expect(await indexes()).toEqual([{ name: 'made_n', valid: true }]);
    expect(await applied()).toEqual(['1_first', '2_second']);
  });

  it('rebuilds an index after an interrupted build', async () => {
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
  ])('runs a migration outside a transaction only if it is a single concurrent index: %j', (text, index) => {
    expect(concurrentIndex(text)).toBe(index);
  });
});

describe('a contracting migration', () => {
  const NAME = '3_contract_since_1_2_0_drop_note';
  const DROP = 'alter table things drop note;';
  const NOTES = `select from information_schema.columns where table_name = 'things' and column_name = 'note'`;

  beforeEach(async () => {
    const [baseline] = await readMigrations();
    await write('1_baseline', baseline!.sql);
    await write('2_things', 'create table things (note text, remark text);');
  });
  const run = (kind: string, release: string, changes = ''): Promise<unknown> =>
    sql(
      `insert into processes (id, kind, release, last_migration, clock_ahead_ms)
         values (gen_random_uuid(), '${kind}', '${release}', '2_things', 0); ${changes}`,
    );

  it('is applied if all running releases work without the removed parts', async () => {
    await up();
    await run('api', '1.2.0');
    await run('worker', '1.2.1');
    await write(NAME, DROP);
    expect(await up()).toEqual([NAME]);
    expect(await sql(NOTES)).toEqual([]);
  });

  it('is refused, together with the other pending migrations, while a process of an older release runs', async () => {
    await up();
    await run('api', '1.2.0');
    await run('api', '1.1.0');
    await write('3_add', 'alter table things add more text;');
    await write(NAME, DROP);
    const refusal: unknown = await up().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ContractRefused);
    expect((refusal as ContractRefused).faults).toEqual([
      `migration ${NAME} breaks 1 × api of release 1.1.0: it removes something that they need`,
    ]);
    expect(await applied()).toEqual(['1_baseline', '2_things']);
  });

  it.each([
    ['has stopped', 'update processes set stopped_at = now()'],
    ['was killed a minute ago', `update processes set seen_at = now() - interval '61 seconds'`],
  ])('is applied after the older process %s', async (_, ended) => {
    await up();
    await run('worker', '1.1.0', ended);
    await run('worker', '1.2.0');
    await write(NAME, DROP);
    expect(await up()).toEqual([NAME]);
  });

  it('is applied with force, which logs the affected processes and the skipped release', async () => {
    await up();
    await run('api', '1.1.0');
    await write(NAME, DROP);
    const lines: string[] = [];
    expect(await up({ force: true, log: (line) => lines.push(line) })).toEqual([NAME]);
    expect(lines).toEqual([
      expect.stringMatching(/^Forced: migration 3_\w+ breaks 1 × api of release 1\.1\.0: .*\.$/),
      expect.stringMatching(/^Forced: migration 3_\w+ skips release 1\.2\.0, .*\.$/),
    ]);
  });

  it('is applied to a new database like any other migration', async () => {
    await write(NAME, DROP);
    expect(await up()).toEqual(['1_baseline', '2_things', NAME]);
  });
});
