import { createTestDatabase, type TestDatabase } from '@onecode/testing';
import pg from 'pg';
import { commitsInSteps, concurrentIndex, readMigrations, type Migration } from '@onecode/store/migrations';
import { breaks, contractReason, readShape, sameRulesReason } from './schemaChanges.js';

let db: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  db = await createTestDatabase();
  client = new pg.Client({ connectionString: db.url });
  await client.connect();
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

/** What a migration breaks of what was there before it. */
async function breaksOf(sql: string): Promise<string[]> {
  const before = await readShape(client);
  // Here everything is in one transaction: no index can be built concurrently, and no step committed. The shape is the same.
  if (concurrentIndex(sql) !== null) await client.query(sql.replace(' concurrently ', ' '));
  else await client.query(commitsInSteps(sql) ? sql.replaceAll('commit;', 'null;') : sql);
  return breaks(before, await readShape(client), sameRulesReason(sql) !== null);
}

describe('the migrations of this repository', () => {
  it('break nothing that the previous release needs, unless they say why it needs it no longer', async () => {
    const [first, ...later] = (await readMigrations()) as [Migration, ...Migration[]];
    await client.query(first.sql);
    const broken: string[] = [];
    for (const { name, sql } of later) {
      const found = await breaksOf(sql);
      if (contractReason(sql) === null) broken.push(...found.map((line) => `${name}: ${line}`));
    }
    expect(broken).toEqual([]);
  });
});

describe('a change of the schema', () => {
  const FIRST = `
    create table owners (id integer primary key);
    create table things (
      id integer primary key, name text not null default 'none', note text, state text check (state in ('new', 'old')),
      code text constraint one_code unique
    );
    create function double(n integer) returns integer language sql as 'select n * 2';`;

  it.each([
    ['a table dropped', 'drop table owners', ['column owners.id is gone']],
    ['a table renamed', 'alter table owners rename to people', ['column owners.id is gone']],
    ['a column dropped', 'alter table things drop note', ['column things.note is gone']],
    ['a column renamed', 'alter table things rename note to remark', ['column things.note is gone']],
    [
      'a column of another type',
      'alter table things alter note type varchar(9)',
      ['column things.note has become character varying(9)'],
    ],
    [
      'a column that is asked for',
      'alter table things alter note set not null',
      ['column things.note may no longer be null'],
    ],
    [
      'a column that may be empty',
      'alter table things alter name drop not null',
      ['column things.name may now be null'],
    ],
    [
      'a default taken away',
      'alter table things alter name drop default',
      ['column things.name has lost its default'],
    ],
    [
      'a new column that is asked for',
      'alter table things add weight integer not null',
      ['column things.weight is new and has to be given'],
    ],
    ['a function dropped', 'drop function double', ['function double is gone']],
    [
      'a function with one more argument',
      `drop function double; create function double(n integer, m integer) returns integer language sql as 'select n * m'`,
      ['function double has another signature'],
    ],
    [
      'a second function of the same name',
      `create function double(n integer, m integer default 2) returns integer language sql as 'select n * m'`,
      ['function double has another signature'],
    ],
    [
      'a constraint on old columns, even one that old rows need not meet',
      `alter table things add constraint has_note check (note <> '') not valid`,
      ['has_note may refuse what is written to things'],
    ],
    [
      'a constraint made narrower',
      `alter table things drop constraint things_state_check, add constraint things_state_check check (state = 'new')`,
      ['things_state_check may refuse what is written to things'],
    ],
    [
      'a constraint between an old column and a new one',
      'alter table things add weight integer, add constraint noted_weight check (note is null or weight is not null)',
      ['noted_weight may refuse what is written to things'],
    ],
    [
      'a unique index',
      'create unique index one_note on things (note)',
      ['one_note may refuse what is written to things'],
    ],
    [
      'a unique index on an expression',
      'create unique index one_note on things (lower(note))',
      ['one_note may refuse what is written to things'],
    ],
    [
      'a unique index dropped',
      'alter table things drop constraint one_code',
      ['unique index one_code on things is gone'],
    ],
    [
      'a column dropped beside a constraint that refuses nothing new',
      `-- refuses nothing new: it is narrower by nothing.
       alter table things drop note, add constraint things_state_again check (state in ('new', 'old'))`,
      ['column things.note is gone'],
    ],
    [
      'a trigger',
      `create function stop() returns trigger language plpgsql as 'begin return null; end';
       create trigger halt before insert on things for each row execute function stop()`,
      ['halt may refuse what is written to things'],
    ],
    [
      'a change inside a block',
      `do $$ begin execute 'alter table things ' || 'drop note'; end $$`,
      ['column things.note is gone'],
    ],
  ])('is found: %s', async (_, sql, found) => {
    await client.query(FIRST);
    expect(await breaksOf(sql)).toEqual(found);
  });

  it.each([
    [
      'a new table',
      'create table extras (id integer primary key, thing_id integer not null references things)',
    ],
    ['a new column that may be null', 'alter table things add weight integer check (weight > 0)'],
    ['a new column with a default', 'alter table things add weight integer not null default 1'],
    ['a new numbered column', 'alter table things add number integer generated always as identity'],
    ['a new index', 'create index things_note on things (note)'],
    [
      'a function with another body',
      `create or replace function double(n integer) returns integer language sql as 'select n + n'`,
    ],
    [
      'a second function of the same name that needs more arguments',
      `create function double(n integer, m integer) returns integer language sql as 'select n * m'`,
    ],
    ['a new function', `create function half(n integer) returns integer language sql as 'select n / 2'`],
    [
      'a constraint in place of another, with the reason why it refuses nothing new',
      `-- refuses nothing new: the words are the same.
       alter table things drop constraint things_state_check, add constraint state check (state = any ('{new,old}'))`,
    ],
    ['a constraint dropped', 'alter table things drop constraint things_state_check'],
    ['rows changed', `insert into owners values (1); update things set note = 'seen'`],
  ])('is let through: %s', async (_, sql) => {
    await client.query(FIRST);
    expect(await breaksOf(sql)).toEqual([]);
  });

  it.each([
    [
      '-- contract: release 1.1 reads remark instead\nalter table things drop note;',
      'release 1.1 reads remark instead',
    ],
    ['-- contract:\nalter table things drop note;', null],
    ['-- A contract: nothing of the kind.\nselect 1;', null],
    ['select 1;', null],
  ])('takes its reason from a line of its own: %j', (sql, reason) => {
    expect(contractReason(sql)).toBe(reason);
  });

  it.each([
    ['-- refuses nothing new: the words are the same.\nselect 1;', 'the words are the same.'],
    ['-- refuses nothing new:\nselect 1;', null],
    ['-- It refuses nothing new: no line of its own.\nselect 1;', null],
  ])('takes the reason of its guards from a line of its own: %j', (sql, reason) => {
    expect(sameRulesReason(sql)).toBe(reason);
  });
});
