import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

/**
 * Builds the package. The code is CommonJS, one file for each entry, and the ES modules import it: a program that loads both kinds has each
 * class only once, so `instanceof` works. The compiler writes the declarations next to the code (`tsc -b` writes only them).
 */
const folder = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);
const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');

/** The entries of `exports` in package.json, and their sources. */
const ENTRIES = { index: 'src/index.ts', 'testing/index': 'src/testing/index.ts' };
/** The program of `bin`. */
const COMMAND = { 'testing/command': 'src/testing/command.ts' };

const { status } = spawnSync(process.execPath, [compiler, '-b'], { cwd: folder, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const cjs = join(folder, 'dist/cjs');
for (const name of readdirSync(cjs, { recursive: true, encoding: 'utf8' }))
  if (name.endsWith('.js')) rmSync(join(cjs, name));
await build({
  input: Object.fromEntries(
    Object.entries({ ...ENTRIES, ...COMMAND }).map(([name, path]) => [name, join(folder, path)]),
  ),
  cwd: folder,
  platform: 'node',
  treeshake: { moduleSideEffects: false },
  output: {
    dir: cjs,
    format: 'cjs',
    exports: 'named',
    entryFileNames: '[name].js',
    chunkFileNames: 'shared.js',
    // Node prints the throwing line above an uncaught error, so lines must be short enough to read.
    minify: false,
    comments: false,
    // An unused tag on the exports, which each file would set.
    generatedCode: { symbols: false },
  },
});
chmodSync(join(cjs, 'testing/command.js'), 0o755);
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
copyFileSync(join(folder, '../../LICENSE'), join(folder, 'LICENSE'));

for (const name of Object.keys(ENTRIES)) {
  const target = join(folder, 'dist/esm', name);
  const code = relative(dirname(target), join(cjs, `${name}.js`));
  const names = Object.keys(require(join(cjs, `${name}.js`))).filter((one) => one !== '__esModule');
  write(`${target}.js`, `export { ${names.join(', ')} } from '${code}';\n`);
  write(`${target}.d.ts`, `export * from '${code}';\n`);
}

/**
 * @param {string} file
 * @param {string} text
 */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
