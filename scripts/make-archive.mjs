import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { npm, root } from './checkout.mjs';
import { reportError, UserError } from './user-error.mjs';

/** The programs of the archive. */
const PROGRAMS = ['apps/api', 'apps/worker', 'apps/console', 'apps/cli'];
/** The packages of the programs. */
const LIBRARIES = ['domain', 'runtime', 'store', 'whatsapp', 'code-samples'].map(
  (name) => `packages/${name}`,
);
const BUILDS = [...PROGRAMS, ...LIBRARIES, 'apps/docs'].map((path) => `${path}/dist`);
/** The files that decide which packages are installed. The lock file also names development packages. */
const INSTALLATION_FILES = ['package-lock.json', '.npmrc'];
const OTHER_FILES = [
  'prisma/migrations',
  'apps/console/web/src/locales',
  'deploy',
  'docs',
  'README.md',
  'LICENSE',
  'NOTICE',
  'CHANGELOG.md',
];
/** Prisma has compilers for every database, in two sizes: 70 MB of files that no program reads. */
const UNUSED_COMPILER = /^query_compiler_(?!small_bg\.postgresql\.)/;

/**
 * Packs the built programs of this checkout with their production packages, for servers without development packages.
 * @param {string} folder where the archive is written
 * @returns {string} the archive `onecode-VERSION.tar.gz`; `onecode-VERSION.tar.gz.sha256` next to it has its checksum
 * @throws {UserError} if the checkout is not built
 */
export function makeArchive(folder) {
  const missing = BUILDS.find((path) => !existsSync(join(root, path)));
  if (missing !== undefined) throw new UserError(`There is no ${missing}: run npm run setup first.`);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const name = `onecode-${version}`;
  const parent = mkdtempSync(join(tmpdir(), 'onecode-archive-'));
  try {
    fill(join(parent, name));
    mkdirSync(folder, { recursive: true });
    const archive = join(folder, `${name}.tar.gz`);
    pack(parent, name, archive);
    const checksum = createHash('sha256').update(readFileSync(archive)).digest('hex');
    writeFileSync(`${archive}.sha256`, `${checksum}  ${name}.tar.gz\n`);
    return archive;
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** @param {string} folder */
function fill(folder) {
  /** @param {string} path */
  const copy = (path) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), {
      recursive: true,
      filter: (file) => !file.endsWith('.tsbuildinfo'),
    });
  };
  for (const path of ['package.json', ...INSTALLATION_FILES]) copy(path);
  for (const path of [...PROGRAMS, ...LIBRARIES]) copy(`${path}/package.json`);
  installPackages(folder);
  for (const path of INSTALLATION_FILES) rmSync(join(folder, path));
  for (const path of [...BUILDS, ...OTHER_FILES]) copy(path);
}

/**
 * Installs the production packages. Optional ones hold machine code for one platform, and the programs run without them.
 * @param {string} folder
 */
function installPackages(folder) {
  /** @param {string[]} args */
  const run = (args) => {
    const { command, args: all } = npm(args);
    const { status, stderr } = spawnSync(command, all, { cwd: folder, encoding: 'utf8' });
    if (status !== 0) throw new UserError(`${stderr}\nnpm ${args[0]} failed.`);
  };
  // npm installs Prisma's command line, an optional peer of its client, if any package.json names it.
  run(['pkg', 'delete', 'devDependencies']);
  const omitted = ['dev', 'peer', 'optional'].map((kind) => `--omit=${kind}`);
  run(['install', '--no-save', ...omitted, ...PROGRAMS.flatMap((path) => ['-w', path])]);
  const runtime = join(folder, 'node_modules/@prisma/client/runtime');
  for (const file of readdirSync(runtime).filter((one) => UNUSED_COMPILER.test(one)))
    rmSync(join(runtime, file));
}

/**
 * Packs a folder so that the same commit makes the same archive.
 * @param {string} parent
 * @param {string} name
 * @param {string} archive
 */
function pack(parent, name, archive) {
  const time = execFileSync('git', ['log', '-1', '--format=%cI'], { cwd: root, encoding: 'utf8' }).trim();
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
  const args = [
    '--create',
    '--sort=name',
    `--mtime=${time}`,
    ...owner,
    '--use-compress-program=gzip --no-name',
    '--file',
  ];
  execFileSync('tar', [...args, archive, '--directory', parent, name], { stdio: 'pipe' });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  try {
    console.log(makeArchive(resolve(process.argv[2] ?? join(root, '.data/release'))));
  } catch (error) {
    reportError(error);
    process.exitCode = 1;
  }
