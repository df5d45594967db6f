import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npm, root } from './checkout.mjs';

const run = promisify(execFile);

/**
 * Returns the commit of a tag, a branch or a short hash, or null if the local history does not have it.
 * @param {string} ref
 * @returns {string | null}
 */
export function commitOf(ref) {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return null;
  }
}

/**
 * Returns the text of a file at a commit.
 * @param {string} commit
 * @param {string} path from the root of the repository
 */
export const readAtCommit = (commit, path) =>
  execFileSync('git', ['show', `${commit}:${path}`], { cwd: root, encoding: 'utf8' });

/**
 * Builds the services as they were at a commit, from git's history. Third-party packages are linked to this checkout's if it has all of
 * them in the same versions, and installed otherwise. `@onecode/*` packages are the commit's own.
 * @param {string} commit
 * @param {string} parent the folder in which the build's folder is made
 * @returns {Promise<string>} the build's folder
 */
export async function buildCommit(commit, parent) {
  const folder = await mkdtemp(join(parent, 'onecode-commit-'));
  const archive = join(folder, 'commit.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['-xf', archive], { cwd: folder });
  await ((await hasOurPackages(folder)) ? linkPackages(folder) : installPackages(folder));
  await run(process.execPath, ['scripts/generate.mjs'], { cwd: folder });
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-b'], { cwd: folder });
  // The API does not start without the documentation site, which contains the packed SDK.
  for (const build of ['packages/client/scripts/build.mjs', 'apps/docs/build.mjs'])
    await run(process.execPath, [build], { cwd: folder });
  return folder;
}

/** @param {string} folder */
async function hasOurPackages(folder) {
  const [theirs, ours] = [await packagesIn(folder), await packagesIn(root)];
  return Object.entries(theirs)
    .filter(([path, { link, optional }]) => path.includes('node_modules/') && !link && !optional)
    .every(([path, { version }]) => ours[path]?.version === version);
}

/**
 * @param {string} folder
 * @returns {Promise<Record<string, { version?: string, link?: true, optional?: true }>>}
 */
const packagesIn = async (folder) =>
  JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8')).packages;

/** @param {string} folder */
async function linkPackages(folder) {
  await mkdir(join(folder, 'node_modules'));
  const names = await readdir(join(root, 'node_modules'));
  for (const name of names.filter((one) => !one.startsWith('.') && one !== '@onecode'))
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  await mkdir(join(folder, 'node_modules/@onecode'));
  for (const parent of ['apps', 'packages'])
    for (const name of await readdir(join(folder, parent))) {
      const workspace = join(folder, parent, name);
      await symlink(workspace, join(folder, 'node_modules/@onecode', name));
      // Packages that are installed only in this workspace. If there are none, the link is broken but unused.
      await symlink(join(root, parent, name, 'node_modules'), join(workspace, 'node_modules'));
    }
}

/** @param {string} folder */
async function installPackages(folder) {
  const { command, args } = npm(['install', '--no-save', '--include=dev', '--loglevel=error']);
  await run(command, args, { cwd: folder });
}
