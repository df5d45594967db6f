import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, runNpm } from './npm.mjs';

const stamp = join(root, 'node_modules', '.onecode-install');

/**
 * Installs the packages when they are missing or the lock file has changed since they were installed.
 * The lock file itself is left as it is, whatever npm's version would like to write there.
 * `npm install`, because `npm ci` refuses a registry that lacks another platform's optional packages;
 * with development packages even under NODE_ENV=production, since the build needs them.
 * @param {import('../processes/processes.mjs').Processes} processes
 */
export async function installPackages(processes) {
  const wanted = await fingerprint();
  if (wanted === (await readFile(stamp, 'utf8').catch(() => null))) return;
  console.log('Installing packages (half a minute the first time) …');
  const args = ['install', '--no-save', '--include=dev', '--loglevel=error'];
  await runNpm(processes, args, { title: 'npm install' });
  await writeFile(stamp, wanted);
}

/** What decides the content of node_modules: the lock file, each package.json, and the platform. */
async function fingerprint() {
  const workspaces = await Promise.all(['packages', 'apps'].map(folders));
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const file of ['package-lock.json', 'package.json', ...workspaces.flat()]) {
    hash.update(file).update(await readFile(join(root, file)).catch(() => ''));
  }
  return hash.digest('hex');
}

/** @param {string} parent */
async function folders(parent) {
  const names = await readdir(join(root, parent));
  return names.toSorted().map((name) => join(parent, name, 'package.json'));
}
