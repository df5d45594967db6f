import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connectTestDatabase, startProcess, type TestDatabase } from '@onecode/testing';
import pg from 'pg';

const FILE = 'deploy/postgresql/database.sql';

/** A role like a managed service's: not a superuser, but allowed to create roles and databases. */
export interface DatabaseAdmin {
  name: string;
  drop(): Promise<void>;
}

/** Creates such a role. Its password is its name. */
export async function createManagedAdmin(): Promise<DatabaseAdmin> {
  const server = process.env['TEST_DATABASE_URL']!;
  const name = `managed_${randomBytes(6).toString('hex')}`;
  await run(server, `create role ${name} login createrole createdb password '${name}'`);
  return { name, drop: () => run(server, `drop role ${name}`) };
}

/**
 * Creates a database as docs/deploy.md does, with the tables of the built migrations. Its `database` connects as the service, and its `sql`
 * as the superuser of the tests.
 *
 * @param admin runs the file, in place of that superuser
 */
export async function makeDocumentedDatabase(admin?: DatabaseAdmin): Promise<TestDatabase> {
  const name = `onecode_test_${randomBytes(6).toString('hex')}`;
  const server = process.env['TEST_DATABASE_URL']!;
  const addressOf = (role?: string, database = `/${name}`): string => {
    const url = new URL(server);
    Object.assign(url, { pathname: database, ...(role !== undefined && { username: role, password: role }) });
    return url.href;
  };
  const [owner, service] = [`${name}_owner`, `${name}_service`];
  const [before = '', inside = ''] = statementsOf(readFileSync(FILE, 'utf8'), admin === undefined)
    .replaceAll(/\bonecode(?=_owner|_service|\b)/g, name)
    .replace(":'owner_password'", `'${owner}'`)
    .replace(":'service_password'", `'${service}'`)
    .split(`\\connect ${name}`);
  await run(addressOf(admin?.name, '/postgres'), before);
  await run(addressOf(admin?.name), inside);
  const migration = startProcess('packages/store/dist/migrate.js', { DATABASE_URL: addressOf(owner) });
  if ((await migration.exited).code !== 0) throw new Error(migration.output());

  const db = connectTestDatabase(addressOf(service));
  const superuser = connectTestDatabase(addressOf());
  return {
    ...db,
    sql: (text, values) => superuser.sql(text, values),
    async drop() {
      await superuser.drop();
      await db.drop();
      await run(server, `drop database ${name} with (force);\ndrop role ${owner};\ndrop role ${service};\n`);
    },
  };
}

/** Returns the statements that psql would run, and its `\connect`. */
function statementsOf(file: string, isSuperuser: boolean): string {
  return file
    .replace(/^select .*\n\\gset$/m, '')
    .replace(/^\\if :is_superuser\n([^]*?)\\else\n([^]*?)\\endif$/m, isSuperuser ? '$1' : '$2')
    .replaceAll(/^(?:--|\\getenv|\\warn).*$/gm, '');
}

/** Runs statements one by one, because some cannot share a transaction. */
async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of sql.split(/;$/m)) if (statement.trim() !== '') await client.query(statement);
  } finally {
    await client.end();
  }
}
