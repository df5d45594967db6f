import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject } from './manifests.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, '.cache');

/**
 * What Kubernetes' types say against objects: kinds that do not exist, members that are missing, of another type or misspelt, and
 * words that are none of a member's.
 */
export function typeFaults(objects: readonly KubernetesObject[]): string[] {
  const lines = objects.flatMap(({ apiVersion, kind, ...rest }, index) => [
    `import type { I${kind} as Type${index} } from 'kubernetes-models/${apiVersion}';`,
    `export const object${index}: Type${index} = ${JSON.stringify({ apiVersion, kind, ...rest })};`,
  ]);
  mkdirSync(CACHE, { recursive: true });
  const folder = mkdtempSync(join(CACHE, 'kubernetes-types-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          skipLibCheck: true,
          module: 'nodenext',
          types: [],
        },
        files: ['objects.ts'],
      }),
    );
    writeFileSync(join(folder, 'objects.ts'), lines.join('\n'));
    const tsc = join(dirname(fileURLToPath(import.meta.resolve('typescript/package.json'))), 'bin/tsc');
    const { stdout, status, stderr } = spawnSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
      cwd: folder,
    });
    const faults = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
    if (status !== 0 && faults.length === 0) throw new Error(`the types cannot be checked: ${stderr}`);
    return faults;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
