import { ConfigError, DATABASE_POOLER, databaseAddress, readConfig } from '@onecode/runtime/config';
import { migrate } from './migrations/migrations.js';

/** The address of the database to migrate. @throws ConfigError */
function databaseUrl(): string {
  const {
    DATABASE_URL,
    MIGRATE_DATABASE_URL,
    DATABASE_POOLER: pooler,
  } = readConfig(process.env, {
    DATABASE_URL: databaseAddress(''),
    DATABASE_POOLER,
    MIGRATE_DATABASE_URL: databaseAddress(''),
  });
  const url = MIGRATE_DATABASE_URL || (pooler === 'transaction' ? '' : DATABASE_URL);
  if (url !== '') return url;
  throw new ConfigError([
    pooler === 'transaction'
      ? 'MIGRATE_DATABASE_URL is missing: with DATABASE_POOLER=transaction it must lead to PostgreSQL itself'
      : 'DATABASE_URL is missing',
  ]);
}

const options = process.argv.slice(2);
const unknown = options.find((option) => option !== '--force');
if (unknown !== undefined) {
  process.stderr.write(`${unknown} is no option: npm run migrate takes --force alone\n`);
  process.exit(1);
}
try {
  const force = options.includes('--force');
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const applied = await migrate(databaseUrl(), undefined, { force, log });
  process.stdout.write(
    applied.length === 0
      ? 'The database is up to date.\n'
      : applied.map((name) => `Applied ${name}.\n`).join(''),
  );
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${error instanceof ConfigError ? message : `The migration failed: ${message}`}\n`);
  process.exit(1);
}
