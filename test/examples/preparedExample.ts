import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { until } from '@onecode/testing';

const ROOT = resolve(import.meta.dirname, '../..');
const CACHE = join(ROOT, '.cache/examples');
const SDK = join(ROOT, 'packages/client');
/** What somebody installed and built in an example's own folder may be of other versions, and hundreds of megabytes. */
const NOT_COPIED = new Set(['node_modules', 'dist', '.next', 'classes']);
const UNUSED_MS_MAX = 24 * 3_600_000;

/** The time for `prepareExample` and the start: packages are installed, programs compiled. */
export const PREPARE_MS_MAX = 300_000;

/** What is to be prepared: an example's folder, and how a copy of it is built. */
export interface Source {
  name: string;
  build?: (folder: string) => void;
}

/**
 * Copies an example and builds the copy, once for all test files and for as long as neither the example nor the SDK changes. Nobody
 * writes into the copy.
 *
 * @returns its folder
 * @throws an error that names the example
 */
export function prepareExample(source: Source): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  const name = `${source.name}-${contentHash(source.name)}`;
  // A link that names the finished copy. Next.js writes its folder into what it builds, so that a copy cannot be moved.
  const finished = join(CACHE, name);
  return until(
    `the ${source.name} example`,
    () => finishedCopy(finished) ?? buildAlone(source, finished),
    PREPARE_MS_MAX,
  );
}

function finishedCopy(link: string): string | undefined {
  if (!existsSync(link)) return undefined;
  const folder = join(CACHE, readlinkSync(link));
  const now = new Date();
  utimesSync(folder, now, now);
  return folder;
}

/**
 * @returns undefined while another process builds. Should two take over from one that was killed, both build, into folders of their own,
 *   and the first to finish is used.
 */
function buildAlone(source: Source, finished: string): string | undefined {
  const lock = `${finished}.lock`;
  if (!takesLock(lock)) return undefined;
  try {
    // The other may have finished between the look and the lock.
    const theirs = finishedCopy(finished);
    if (theirs !== undefined) return theirs;
    const folder = `${finished}.${randomBytes(4).toString('hex')}`;
    buildCopy(source, folder);
    if (!createLink(basename(folder), finished)) rmSync(folder, { recursive: true });
    removeUnused(source.name);
    return finishedCopy(finished);
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The lock is a link whose target is the id of the process that holds it: it exists with its content, or not at all. */
function takesLock(lock: string): boolean {
  if (createLink(String(process.pid), lock)) return true;
  if (!isHeld(lock)) rmSync(lock, { force: true });
  return false;
}

function isHeld(lock: string): boolean {
  try {
    return process.kill(Number(readlinkSync(lock)), 0);
  } catch (error) {
    // EPERM: it is another user's. ENOENT: it was given back meanwhile. ESRCH: its process was killed.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** @returns false when there is something of that name */
function createLink(target: string, link: string): boolean {
  try {
    symlinkSync(target, link);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function buildCopy({ name, build }: Source, folder: string): void {
  cpSync(join(ROOT, 'examples', name), folder, { recursive: true, filter: isCopied });
  try {
    build?.(folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`the ${name} example could not be built: ${(error as Error).message}`, { cause: error });
  }
}

const isCopied = (path: string): boolean => !NOT_COPIED.has(basename(path));

/** Of everything that a copy is made from. */
function contentHash(name: string): string {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}`);
  const files = [
    ...filesIn(join(ROOT, 'examples', name)).filter((file) => file.split('/').every(isCopied)),
    ...filesIn(join(SDK, 'dist')),
    join(SDK, 'package.json'),
  ];
  for (const file of files.toSorted()) hash.update(file.slice(ROOT.length)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 12);
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Removes copies of earlier contents, unless another run of the tests may use them. */
function removeUnused(name: string): void {
  for (const entry of readdirSync(CACHE, { withFileTypes: true })) {
    const path = join(CACHE, entry.name);
    if (!entry.isDirectory() || !entry.name.startsWith(`${name}-`)) continue;
    if (Date.now() - statSync(path).mtimeMs < UNUSED_MS_MAX) continue;
    rmSync(path.replace(/\.\w+$/, ''), { force: true });
    rmSync(path, { recursive: true, force: true });
  }
}

/** Installs an example's packages, with the SDK as it is packed here. */
export function installPackages(folder: string): void {
  run(SDK, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder);
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  manifest.dependencies['@onecode/client'] = `file:${packed}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  try {
    run(folder, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts');
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`its packages cannot be installed. Can npm reach its registry? ${why}`, { cause: error });
  }
}

/** Installs an example's packages and compiles it, which checks its types. */
export function installAndBuild(folder: string): void {
  installPackages(folder);
  run(folder, 'npm', 'run', '--silent', 'build');
}

/** Without a network, another toolchain or the state of the repository around the copy. */
export function compileGo(folder: string): void {
  const flags = ['-buildvcs=false', '-o', 'sign-in', '.'];
  run(folder, 'env', 'GOPROXY=off', 'GOTOOLCHAIN=local', 'go', 'build', ...flags);
}

export function compileJava(folder: string): void {
  const sources = readdirSync(folder).filter((file) => file.endsWith('.java'));
  run(folder, 'javac', '-Xlint:all', '-Werror', '-d', 'classes', ...sources);
}

function run(cwd: string, command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd, stdio: 'pipe' });
}
