import { migrate } from './migrations/migrations.js';

const url = process.env['DATABASE_URL'];
if (url === undefined || url === '') {
  process.stderr.write('DATABASE_URL is missing\n');
  process.exit(1);
}
try {
  const applied = await migrate(url);
  process.stdout.write(
    applied.length === 0
      ? 'The database is up to date.\n'
      : applied.map((name) => `Applied ${name}.\n`).join(''),
  );
} catch (error) {
  process.stderr.write(`The migration failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
