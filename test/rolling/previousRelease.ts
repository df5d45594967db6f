import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npm } from '../../scripts/setup/npm.mjs';
import { startProcess } from '../harness/startedProcess.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const previous = JSON.parse(readFileSync(new URL('previous-release.json', import.meta.url), 'utf8')) as {
  version: string;
  commit: string;
};

/** A build of the release that runs while this one is deployed. */
export interface PreviousRelease {
  /** Ends with a slash. */
  folder: string;
  remove(): Promise<void>;
}

/** Why the previous release cannot be built here, or null when it can. */
export function missingHistory(): string | null {
  try {
    execFileSync('git', ['cat-file', '-e', `${previous.commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' });
    return null;
  } catch {
    return `test/rolling/previousRelease.test.ts is skipped: release ${previous.version} (${previous.commit.slice(0, 7)}) is not in this copy's git history`;
  }
}

/**
 * Builds the release that `previous-release.json` names, from git's history, in a temporary folder. Third-party packages are
 * ours where both lock files agree on them, and are installed otherwise; `@onecode/*` are its own.
 */
export async function buildPreviousRelease(): Promise<PreviousRelease> {
  const folder = await mkdtemp(join(tmpdir(), 'onecode-previous-'));
  const archive = join(folder, 'release.tar');
  await run('git', ['archive', '--output', archive, previous.commit], { cwd: ROOT });
  await run('tar', ['-xf', archive], { cwd: folder });
  if (await sharesOurPackages(folder)) await linkPackages(folder);
  else await installPackages(folder);
  await run(process.execPath, ['scripts/generate.mjs'], { cwd: folder });
  await run(process.execPath, ['node_modules/typescript/bin/tsc', '-b'], { cwd: folder });
  return { folder: `${folder}/`, remove: () => rm(folder, { recursive: true }) };
}

interface Lock {
  packages: Record<string, { version?: string; link?: true; optional?: true }>;
}

async function sharesOurPackages(folder: string): Promise<boolean> {
  const [theirs, ours] = await Promise.all(
    [folder, ROOT].map(
      async (root) => JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock,
    ),
  );
  return Object.entries(theirs!.packages).every(
    ([path, { version, link, optional }]) =>
      !path.includes('node_modules/') || link || optional || ours!.packages[path]?.version === version,
  );
}

async function linkPackages(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules'));
  const names = await readdir(join(ROOT, 'node_modules'));
  for (const name of names.filter((one) => !one.startsWith('.') && one !== '@onecode'))
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  await mkdir(join(folder, 'node_modules/@onecode'));
  for (const parent of ['apps', 'packages'])
    for (const name of await readdir(join(folder, parent))) {
      const workspace = join(folder, parent, name);
      await symlink(workspace, join(folder, 'node_modules/@onecode', name));
      // Versions that only this workspace has; where there are none, the link leads nowhere and nobody follows it.
      await symlink(join(ROOT, parent, name, 'node_modules'), join(workspace, 'node_modules'));
    }
}

async function installPackages(folder: string): Promise<void> {
  const { command, args } = npm(['install', '--no-save', '--include=dev', '--loglevel=error']);
  await run(command, args, { cwd: folder });
}

/** Migrates a database as `npm run migrate` does in a release's folder; '' is this release. @throws when it fails */
export async function migrate(folder: string, url: string): Promise<void> {
  const migration = startProcess(`${folder}packages/store/dist/migrate.js`, { DATABASE_URL: url });
  const { code } = await migration.exited;
  if (code !== 0) throw new Error(migration.output());
}
