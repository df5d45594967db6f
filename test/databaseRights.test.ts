import { closeDatabase, findDatabaseFault, openDatabase } from '@onecode/store/client';
import type { TestDatabase } from '@onecode/testing';
import { makeDocumentedDatabase } from './documentedDatabase.js';

let db: TestDatabase;
describe('the roles of docs/deploy.md', () => {
  beforeAll(async () => {
    db = await makeDocumentedDatabase();
  });
  afterAll(() => db.drop());

  it('prevent changes of the audit log, and keep statements out of PostgreSQL’s log', async () => {
    const client = await db.connect();
    const refused = async (sql: string, message: RegExp): Promise<void> =>
      void (await expect(client.query(sql)).rejects.toThrow(message));
    await refused(`update audit_entries set actor_name = 'changed'`, /append-only/);
    await refused('delete from audit_entries', /append-only/);
    await refused('alter table audit_entries disable trigger all', /must be owner/);
    await refused('drop table audit_entries', /must be owner/);
    await refused('create table public.more (id integer)', /permission denied/);
    const show = async (name: string): Promise<unknown> => (await client.query(`show ${name}`)).rows[0];
    expect(await show('log_error_verbosity')).toEqual({ log_error_verbosity: 'terse' });
    expect(await show('log_min_error_statement')).toEqual({ log_min_error_statement: 'panic' });
    await client.end();
  });

  it('are reported when they lack a right, with the name of its table', async () => {
    const role = new URL(db.url).username;
    expect(await findDatabaseFault(db.database)).toBeNull();
    const tables = await db.sql<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    );
    for (const { name } of tables) {
      const rights = name === '_prisma_migrations' ? ['select'] : ['select', 'insert', 'update', 'delete'];
      for (const right of name === 'audit_entries' ? ['select', 'insert'] : rights) {
        await db.sql(`revoke ${right} on ${name} from ${role}`);
        expect(await findDatabaseFault(db.database)).toBe(
          `the role ${role} lacks rights on ${name} (${right}): docs/deploy.md#the-database has the grants`,
        );
        await db.sql(`grant ${right} on ${name} to ${role}`);
      }
    }
    await db.sql('revoke execute on function is_held(text[], uuid, text) from public');
    expect(await findDatabaseFault(db.database)).toContain(' lacks rights on is_held (execute): ');
    await db.sql('grant execute on function is_held(text[], uuid, text) to public');
    await db.sql('revoke usage on schema public from public');
    expect(await findDatabaseFault(db.database)).toContain(' lacks rights on the schema public (usage): ');
    await db.sql('grant usage on schema public to public');
    expect(await findDatabaseFault(db.database)).toBeNull();
  });

  it('pass their rights to a second role that is their member', async () => {
    const url = new URL(db.url);
    const first = url.username;
    url.username += '_2';
    await db.sql(`create role ${url.username} login password '${url.password}' in role ${first}`);
    const second = openDatabase(url.href, { connectionsMax: 1 });
    expect(await findDatabaseFault(second)).toBeNull();
    await closeDatabase(second);
    await db.sql(`drop role ${url.username}`);
  });
});
