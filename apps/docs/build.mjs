import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `npm run build -w apps/docs`: builds the site into `dist`, unless it was already built from the same sources. */
const root = fileURLToPath(new URL('.', import.meta.url));
const vitepress = createRequire(import.meta.url).resolve('vitepress/package.json');
const stamp = join(root, 'dist/.made-from');

if (!existsSync(join(root, '../../packages/client/dist/esm/index.js')))
  throw new Error('The SDK is not built: npm run build -w packages/client');
pack('packages/client', 'onecode-client.tgz');
for (const example of ['express', 'nextjs', 'logto-connector'])
  pack(`examples/${example}`, `examples/${example}.tgz`);
copyClients();

const hash = createHash('sha256');
for (const folder of ['pages', 'src', '.vitepress', 'translations', '../../packages/code-samples/src'])
  for (const file of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted())
    if (!isGenerated(file)) hash.update(relative(root, file)).update(readFileSync(file));
const others = ['build.mjs', '../api/openapi.yaml', '../../packages/domain/src/sends/problems.ts'];
for (const file of [...others.map((name) => join(root, name)), vitepress]) hash.update(readFileSync(file));
const madeFrom = hash.digest('hex');

if (readIfAny(stamp) !== madeFrom) {
  const { status } = spawnSync(process.execPath, [join(vitepress, '../bin/vitepress.js'), 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(stamp, madeFrom);
}

/**
 * Packs a package into the files of the site, where the guides download it. The same files produce the same bytes.
 * @param {string} from its folder
 * @param {string} name
 */
function pack(from, name) {
  const target = join(root, 'pages/public', name);
  const folder = dirname(target);
  mkdirSync(folder, { recursive: true });
  const { status, stdout, stderr } = spawnSync(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', folder],
    { cwd: join(root, '../..', from), encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`${from} cannot be packed: ${stderr}`);
  const [, filename = ''] = /"filename": "([^"]+)"/.exec(stdout) ?? [];
  renameSync(join(folder, filename), target);
}

/** Copies the clients for other languages into the files of the site, where the guides download them. */
function copyClients() {
  const folder = join(root, 'pages/public/clients');
  mkdirSync(folder, { recursive: true });
  for (const client of ['python/onecode.py', 'php/Onecode.php', 'go/onecode.go', 'java/Onecode.java'])
    copyFileSync(join(root, '../../clients', client), join(folder, basename(client)));
}

/**
 * Whether a page is generated from the contract, which is hashed itself.
 * @param {string} file
 */
function isGenerated(file) {
  return /\/pages\/(?:pt-br\/)?(?:errors\.md|reference\/)/.test(file);
}

/**
 * Returns a file's text; null if there is no such file.
 * @param {string} file
 */
function readIfAny(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
