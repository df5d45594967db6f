import { contractOf, ContractRefused } from '@onecode/store/migrations';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FOLDER, ours, useMigrationFolder } from './migrationFolder.js';

const { up, write, sql, applied } = useMigrationFolder();

const DROP = '-- contract: since 1.2.0: it reads remark instead\nalter table things drop note;';
const NOTES = `select from information_schema.columns where table_name = 'things' and column_name = 'note'`;

beforeEach(async () => {
  const [baseline] = await ours();
  await write('1_baseline', await readFile(join(FOLDER, baseline!, 'migration.sql'), 'utf8'));
  await write('2_things', 'create table things (note text, remark text);');
});
const run = (kind: string, release: string, changes = ''): Promise<unknown> =>
  sql(
    `insert into processes (id, kind, release, last_migration, clock_ahead_ms)
       values (gen_random_uuid(), '${kind}', '${release}', '2_things', 0);
     insert into releases (release) values ('${release}') on conflict do nothing; ${changes}`,
  );

describe('a contracting migration', () => {
  it('is applied while only releases run that no longer need what it takes away, and is noted', async () => {
    await up();
    await run('api', '1.2.0');
    await run('worker', '1.2.1');
    await write('3_drop', DROP);
    expect(await up()).toEqual(['3_drop']);
    expect(await sql(NOTES)).toEqual([]);
    expect(await sql('select * from schema_contracts')).toEqual([
      { migration_name: '3_drop', oldest_release: '1.2.0', reason: 'it reads remark instead' },
    ]);
  });

  it('is refused while a process of an older release runs, with all that came along', async () => {
    await up();
    await run('api', '1.2.0');
    await run('api', '1.1.0');
    await write('3_add', 'alter table things add more text;');
    await write('4_drop', DROP);
    const refusal: unknown = await up().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ContractRefused);
    expect((refusal as ContractRefused).faults).toEqual([
      'migration 4_drop breaks 1 × api of release 1.1.0: it takes away what they need (it reads remark instead)',
    ]);
    expect(await applied()).toEqual(['1_baseline', '2_things']);
  });

  it.each([
    ['has stopped', 'update processes set stopped_at = now()'],
    ['was killed a minute ago', `update processes set seen_at = now() - interval '61 seconds'`],
  ])('is applied once the older process %s', async (_, ended) => {
    await up();
    await run('worker', '1.1.0', ended);
    await run('worker', '1.2.0');
    await write('3_drop', DROP);
    expect(await up()).toEqual(['3_drop']);
  });

  it('that was forced is applied, and says what it breaks and which release was skipped', async () => {
    await up();
    await run('api', '1.1.0');
    await write('3_drop', DROP);
    const lines: string[] = [];
    expect(await up({ force: true, log: (line) => lines.push(line) })).toEqual(['3_drop']);
    expect(lines).toEqual([
      expect.stringMatching(/^Forced: migration 3_drop breaks 1 × api of release 1\.1\.0: .*\.$/),
      expect.stringMatching(/^Forced: migration 3_drop goes past release 1\.2\.0, .*\.$/),
    ]);
  });

  it('is applied to a new database like any other', async () => {
    await write('3_drop', DROP);
    expect(await up()).toEqual(['1_baseline', '2_things', '3_drop']);
  });

  it.each([
    ['-- contract: since 1.2.0: it reads remark', { oldestRelease: '1.2.0', reason: 'it reads remark' }],
    ['-- contract: nobody reads it', { oldestRelease: null, reason: 'nobody reads it' }],
    ['-- contract:', null],
    ['-- It is no contract: nothing of the kind.', null],
  ])('is known by a line of its own: %s', (line, expected) => {
    const found = contractOf({ name: '1', sql: `${line}\nselect 1;` });
    expect(found).toEqual(expected && { migration: '1', ...expected });
  });
});
