import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { npm, root } from './checkout.mjs';

const run = promisify(execFile);

/**
 * The commit that a tag, a branch or a short name stands for, or null when this copy's history has none.
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
 * Builds the services as they were at a commit, from git's history. Third-party packages are linked to ours where the lock files do not
 * contradict each other, with those unpacked that only the release has, and installed otherwise; the release has `@onecode/*` of its own.
 * @param {string} commit
 * @param {string} parent the folder in which the release's folder is made
 * @returns {Promise<string>} the release's folder
 */
export async function buildRelease(commit, parent) {
  const folder = await mkdtemp(join(parent, 'onecode-release-'));
  const archive = join(folder, 'release.tar');
  await run('git', ['archive', '--output', archive, commit], { cwd: root });
  await run('tar', ['-xf', archive], { cwd: folder });
  const others = await packagesOfItsOwn(folder);
  if (others.every(({ isMissingHere }) => isMissingHere)) {
    await linkPackages(folder);
    for (const other of others) await unpackPackage(folder, other);
  } else await installPackages(folder);
  await run(process.execPath, ['scripts/generate.mjs'], { cwd: folder });
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-b'], { cwd: folder });
  // The API serves a site that holds the packed SDK, and does not start without; releases before 2026-11-24 had neither.
  for (const build of ['packages/client/scripts/build.mjs', 'apps/docs/build.mjs'])
    if (existsSync(join(folder, build))) await run(process.execPath, [build], { cwd: folder });
  return folder;
}

/** @typedef {{ packages: Record<string, { version?: string, link?: true, optional?: true }> }} Lock */

/**
 * A package that this checkout has not, or has in another version.
 * @typedef {{ name: string, version: string, isMissingHere: boolean }} OtherPackage
 */

/**
 * @param {string} folder
 * @returns {Promise<OtherPackage[]>}
 */
async function packagesOfItsOwn(folder) {
  const [theirs, ours] = [await lockOf(folder), await lockOf(root)];
  return Object.entries(theirs.packages)
    .filter(
      ([path, { version, link, optional }]) =>
        path.includes('node_modules/') && !link && !optional && ours.packages[path]?.version !== version,
    )
    .map(([path, { version = '' }]) => {
      const name = path.slice('node_modules/'.length);
      const isAtTop = path.startsWith('node_modules/') && !name.includes('node_modules/');
      return { name, version, isMissingHere: isAtTop && ours.packages[path] === undefined };
    });
}

/**
 * @param {string} folder
 * @returns {Promise<Lock>}
 */
const lockOf = async (folder) => JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));

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
      // Versions that only this workspace has. Where there are none, the link is broken and nothing reads it.
      await symlink(join(root, parent, name, 'node_modules'), join(workspace, 'node_modules'));
    }
}

/**
 * @param {string} folder
 * @param {OtherPackage} other one that this checkout has not, so that there is no link in its place
 */
async function unpackPackage(folder, { name, version }) {
  const { command, args } = npm(['pack', '--silent', '--pack-destination', folder, `${name}@${version}`]);
  const { stdout } = await run(command, args, { cwd: folder });
  const place = join(folder, 'node_modules', name);
  await mkdir(place, { recursive: true });
  await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', place, '--strip-components=1']);
}

/** @param {string} folder */
async function installPackages(folder) {
  const { command, args } = npm(['install', '--no-save', '--include=dev', '--loglevel=error']);
  await run(command, args, { cwd: folder });
}
