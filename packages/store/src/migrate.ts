import { migrate } from './migrations/migrations.js';

const { DATABASE_URL, DATABASE_POOLER, MIGRATE_DATABASE_URL } = process.env;
const url = MIGRATE_DATABASE_URL || (DATABASE_POOLER === 'transaction' ? undefined : DATABASE_URL);
if (url === undefined || url === '') {
  process.stderr.write(
    DATABASE_POOLER === 'transaction'
      ? 'MIGRATE_DATABASE_URL is missing: with DATABASE_POOLER=transaction it must lead to PostgreSQL itself\n'
      : 'DATABASE_URL is missing\n',
  );
  process.exit(1);
}
try {
  const applied = await migrate(url, undefined, { log: (line) => process.stderr.write(`${line}\n`) });
  process.stdout.write(
    applied.length === 0
      ? 'The database is up to date.\n'
      : applied.map((name) => `Applied ${name}.\n`).join(''),
  );
} catch (error) {
  process.stderr.write(`The migration failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
