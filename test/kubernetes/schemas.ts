import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubernetesObject } from './manifests.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, '.cache');

/** The models of the API groups that the manifests use. */
const MODELS: Readonly<Record<string, () => Promise<object>>> = {
  v1: () => import('kubernetes-models/v1'),
  'apps/v1': () => import('kubernetes-models/apps/v1'),
  'autoscaling/v2': () => import('kubernetes-models/autoscaling/v2'),
  'batch/v1': () => import('kubernetes-models/batch/v1'),
  'networking.k8s.io/v1': () => import('kubernetes-models/networking.k8s.io/v1'),
  'policy/v1': () => import('kubernetes-models/policy/v1'),
};

/** What Kubernetes' schemas say against an object: required members, types, and forms such as quantities. */
export async function schemaFaults(object: KubernetesObject): Promise<string[]> {
  const models = await MODELS[object.apiVersion]?.();
  if (models === undefined) return [`the API group ${object.apiVersion} is not known here`];
  const Model = (models as Record<string, new (data: object) => { validate(): void }>)[object.kind];
  if (Model === undefined) return [`${object.apiVersion} has no ${object.kind}`];
  try {
    new Model(object).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * What Kubernetes' types say against objects: members that they do not have, and words that are none of a member's. Kubernetes would
 * drop or refuse these, and its schemas say nothing of them.
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
