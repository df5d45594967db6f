import { findDatabaseFault } from '@onecode/store/client';
import { buildCaller, type TestDatabase } from '@onecode/testing';
import { createManagedAdmin, makeDocumentedDatabase, type DatabaseAdmin } from './documentedDatabase.js';

describe('deploy/postgresql/database.sql, run by a role with CREATEROLE and CREATEDB', () => {
  let admin: DatabaseAdmin;
  let db: TestDatabase;
  beforeAll(async () => {
    admin = await createManagedAdmin();
    db = await makeDocumentedDatabase(admin);
  });
  afterAll(async () => {
    await db.drop();
    await admin.drop();
  });

  it('creates roles that can migrate, read and write', async () => {
    expect(await findDatabaseFault(db.database)).toBeNull();
    await expect(buildCaller(db.database, 'live')).resolves.toMatchObject({ mode: 'live' });
  });

  it('gives the roles the same rights as a superuser does', async () => {
    const client = await db.connect();
    await expect(client.query('create table public.more (id integer)')).rejects.toThrow(/permission denied/);
    await expect(client.query('alter table audit_entries disable trigger all')).rejects.toThrow(
      /must be owner/,
    );
    await client.end();
    const [outsider] = await db.sql<{ can_connect: boolean }>(
      `select has_database_privilege('pg_monitor', current_database(), 'connect') as can_connect`,
    );
    expect(outsider).toEqual({ can_connect: false });
  });

  it('does not change log settings, which only a superuser can set', async () => {
    const settings = await db.sql(
      'select from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase where datname = current_database()',
    );
    expect(settings).toEqual([]);
  });
});
