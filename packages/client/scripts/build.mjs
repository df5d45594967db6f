import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Builds dist/esm and dist/cjs, and says in each which kind of module it holds: Node reads that from the next package.json. */
const folder = fileURLToPath(new URL('..', import.meta.url));
const compiler = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace('package.json', 'bin/tsc');

const { status } = spawnSync(process.execPath, [compiler, '-b', 'tsconfig.json', 'tsconfig.cjs.json'], {
  cwd: folder,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
writeFileSync(`${folder}/dist/cjs/package.json`, '{ "type": "commonjs" }\n');
