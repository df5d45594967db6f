import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { reportError, UserError } from '../user-error.mjs';
import { applyMigrations, changedFunctions, withEmptyDatabase } from './schema.mjs';

const folder = join(root, 'prisma/migrations');

/**
 * `npm run migration -- NAME`: begins the next migration. It holds `create or replace` for each file of prisma/functions that the
 * migrations so far have otherwise; columns, tables and indexes are added by hand. Then `npm run generate` writes prisma/schema.sql.
 * @param {string | undefined} name
 * @returns {Promise<string>} the file that was written
 * @throws {UserError} without a name in small letters, digits and underscores
 */
async function beginMigration(name) {
  if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name))
    throw new UserError('A name is expected, such as: npm run migration -- sender_regions');
  const changed = await withEmptyDatabase(async (client) => {
    await applyMigrations(client);
    return changedFunctions(client);
  });
  const stamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  const latest = readdirSync(folder).toSorted().at(-1)?.split('_')[0] ?? '';
  if (stamp <= latest)
    throw new UserError(`The migration ${latest} is newer than this machine's clock says.`);
  const file = join(folder, `${stamp}_${name}`, 'migration.sql');
  if (existsSync(file)) throw new UserError(`${file} exists.`);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, changed.map(({ sql }) => sql).join('\n') || '-- What changes, and why.\n');
  console.log(
    `Wrote ${file.slice(root.length).replace(/^\//, '')}: ${changed.map((one) => one.name).join(', ') || 'no function has changed'}.`,
  );
  return file;
}

try {
  await beginMigration(process.argv[2]);
} catch (error) {
  reportError(error);
  process.exitCode = 1;
}
