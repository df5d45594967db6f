import { ignoreClosedOutput } from '@onecode/runtime/closedOutput';
import { ConfigError, databaseAddress, DATABASE_POOLER, readConfig } from '@onecode/runtime/config';
import { migrate } from './migrations/migrations.js';

/** Reads the address of the database to migrate. @throws ConfigError */
function databaseUrl(): string {
  const config = readConfig(process.env, {
    DATABASE_URL: databaseAddress(''),
    DATABASE_POOLER,
    MIGRATE_DATABASE_URL: databaseAddress(''),
  });
  if (config.MIGRATE_DATABASE_URL !== '') return config.MIGRATE_DATABASE_URL;
  if (config.DATABASE_POOLER !== 'none')
    throw new ConfigError(['MIGRATE_DATABASE_URL is missing: a migration needs PostgreSQL itself']);
  if (config.DATABASE_URL === '') throw new ConfigError(['DATABASE_URL is missing']);
  return config.DATABASE_URL;
}

ignoreClosedOutput('migrate');
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
  // Errors of connections to several addresses have no message.
  const message =
    error instanceof Error ? error.message.trim() || (error as NodeJS.ErrnoException).code : String(error);
  process.stderr.write(`${error instanceof ConfigError ? message : `The migration failed: ${message}`}\n`);
  process.exit(1);
}
