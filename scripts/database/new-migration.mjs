import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { reportError, UserError } from '../user-error.mjs';
import {
  applyMigrations,
  changedFunctions,
  readFunctions,
  withEmptyDatabase,
  withFunctions,
} from './schema.mjs';

const folder = join(root, 'prisma/migrations');

/**
 * `npm run migration [-- NAME]`: writes the changed functions of prisma/functions into the newest migration if no release contains it and
 * NAME is its name or omitted. Otherwise it starts a new migration. Columns, tables and indexes are written by hand. Then `npm run
 * generate` writes prisma/schema.sql.
 * @param {string | undefined} name
 * @throws {UserError} without a name in small letters, digits and underscores where a migration begins
 */
async function run(name) {
  const latest = readdirSync(folder).toSorted().at(-1) ?? '';
  const isLatest = name === undefined || name === latest.replace(/^\d+_/, '');
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*').stdout.trim();
  if (!isLatest || contains(release, latest)) return beginMigration(name, latest);
  await refreshMigration(latest);
  if (release === '')
    console.error(
      `Warning: this clone has no release tags, so ${latest} was changed as if no release contained it. If one does, restore the file, run git fetch --tags, and repeat the command.`,
    );
}

/**
 * Returns whether a release contains a migration.
 * @param {string} release its tag; empty if there is none
 * @param {string} name of the migration's folder
 */
const contains = (release, name) =>
  release !== '' && git('cat-file', '-e', `${release}:prisma/migrations/${name}/migration.sql`).status === 0;

/** @param {string[]} args */
const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' });

/**
 * Writes the current functions into a migration: each in its place, and functions of earlier migrations at its end.
 * @param {string} name of its folder
 */
async function refreshMigration(name) {
  const file = join(folder, name, 'migration.sql');
  const before = readFileSync(file, 'utf8');
  const { text, replaced } = withFunctions(before, readFunctions());
  writeFileSync(file, text);
  const added = await withEmptyDatabase(async (client) => {
    await applyMigrations(client);
    return changedFunctions(client);
  });
  if (added.length > 0) writeFileSync(file, [text.trimEnd(), ...added.map(({ sql }) => sql)].join('\n\n'));
  report(file, [...replaced, ...added.map((one) => one.name)]);
}

/**
 * Starts a migration with `create or replace` for each file of prisma/functions that differs from the existing migrations.
 * @param {string | undefined} name
 * @param {string} latest the folder of the newest migration
 */
async function beginMigration(name, latest) {
  if (name === undefined || !/^[a-z][a-z0-9_]*$/.test(name))
    throw new UserError('A name is expected, such as: npm run migration -- sender_regions');
  const changed = await withEmptyDatabase(async (client) => {
    await applyMigrations(client);
    return changedFunctions(client);
  });
  const stamp = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
  if (stamp <= (latest.split('_')[0] ?? ''))
    throw new UserError(`The migration ${latest} is newer than this machine's clock.`);
  const file = join(folder, `${stamp}_${name}`, 'migration.sql');
  if (existsSync(file)) throw new UserError(`${file} already exists.`);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, changed.map(({ sql }) => sql).join('\n') || '-- What changes, and why.\n');
  report(
    file,
    changed.map((one) => one.name),
  );
}

/**
 * @param {string} file
 * @param {string[]} names of functions
 */
function report(file, names) {
  const path = file.slice(root.length).replace(/^\//, '');
  console.log(`Wrote ${path}: ${names.join(', ') || 'no changed function'}.`);
}

try {
  await run(process.argv[2]);
} catch (error) {
  reportError(error);
  process.exitCode = 1;
}
