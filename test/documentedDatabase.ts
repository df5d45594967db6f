import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connectTestDatabase, startProcess, type TestDatabase } from '@onecode/testing';
import pg from 'pg';

const FILE = 'deploy/postgresql/database.sql';

/** A database as docs/deploy.md makes it, with the tables of the built migrations, as the service reaches it; `sql` may do all. */
export async function makeDocumentedDatabase(): Promise<TestDatabase> {
  const name = `onecode_test_${randomBytes(6).toString('hex')}`;
  const addressOf = (role: string): string => {
    const url = new URL(process.env['TEST_DATABASE_URL']!);
    Object.assign(url, { pathname: `/${name}`, ...(role !== '' && { username: role, password: role }) });
    return url.href;
  };
  const [owner, service] = [`${name}_owner`, `${name}_service`];
  const [before = '', inside = ''] = readFileSync(FILE, 'utf8')
    .replaceAll(/^(?:--|\\getenv).*$/gm, '')
    .replaceAll(/\bonecode(?=_owner|_service|\b)/g, name)
    .replace(":'owner_password'", `'${owner}'`)
    .replace(":'service_password'", `'${service}'`)
    .split(`\\connect ${name}`);
  await run(process.env['TEST_DATABASE_URL']!, before);
  await run(addressOf(''), inside);
  const migration = startProcess('packages/store/dist/migrate.js', { DATABASE_URL: addressOf(owner) });
  if ((await migration.exited).code !== 0) throw new Error(migration.output());

  const db = connectTestDatabase(addressOf(service));
  const admin = connectTestDatabase(addressOf(''));
  return {
    ...db,
    sql: (text, values) => admin.sql(text, values),
    async drop() {
      await admin.drop();
      await db.drop();
      const drops = `drop database ${name} with (force);\ndrop role ${owner};\ndrop role ${service};\n`;
      await run(process.env['TEST_DATABASE_URL']!, drops);
    },
  };
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
