import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { typeFaults } from '../typeFaults.js';

const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes/', import.meta.url));
export const OVERLAYS = readdirSync(`${FOLDER}overlays`).toSorted();

/** An object for Kubernetes, as a kustomization renders it. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [member: string]: any;
}

interface Variable {
  name: string;
  value?: string;
  valueFrom?: Record<string, { name: string; key: string }>;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  env?: Variable[];
  ports?: { name: string; containerPort: number }[];
  [member: string]: any;
}

/** An object that runs containers: a Deployment, a StatefulSet or a Job. */
export interface Workload {
  object: KubernetesObject;
  name: string;
  labels: Record<string, string>;
  pod: Record<string, any>;
  container: Container;
}

/** Renders a folder of deploy/kubernetes. @throws with Kustomize's message when it refuses the folder */
export const render = (kubectl: string, folder: string): KubernetesObject[] =>
  objectsFrom(kubectl, ['kustomize', FOLDER + folder]);

/** Renders a kustomization with paths relative to deploy/kubernetes. */
export function renderKustomization(
  kubectl: string,
  {
    resources,
    components,
    ...rest
  }: { resources: string[]; components: string[]; [member: string]: unknown },
): KubernetesObject[] {
  const folder = mkdtempSync(join(tmpdir(), 'onecode-kustomization-'));
  const pathOf = (path: string): string => relative(folder, FOLDER + path);
  const kustomization = { resources: resources.map(pathOf), components: components.map(pathOf), ...rest };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  try {
    // A single file outside the folder is allowed.
    return objectsFrom(kubectl, ['kustomize', folder, '--load-restrictor', 'LoadRestrictionsNone']);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the objects that a program prints as YAML. @throws with the program's message if it fails */
export function objectsFrom(command: string, args: readonly string[]): KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(stderr);
  // Kubernetes reads YAML 1.1.
  return parseAllDocuments(stdout, { version: '1.1' })
    .map((one) => one.toJS() as KubernetesObject | null)
    .filter((one) => one !== null);
}

/** The groups of custom resources, for which `kubernetes-models` has no types. */
const CUSTOM_GROUPS = new Set(['gateway.networking.k8s.io', 'keda.sh', 'monitoring.coreos.com']);

/**
 * Returns the faults of objects by Kubernetes' types: kinds that do not exist, and members that are missing, misspelt, of another type or
 * outside their words.
 * @param objects
 * @param customTypes the folders of the types of custom resources, by group; without them, custom resources are not checked
 */
export function manifestFaults(
  objects: readonly KubernetesObject[],
  customTypes?: Readonly<Record<string, string>>,
): string[] {
  const lines = objects.flatMap(({ apiVersion, kind, ...rest }, index) => {
    const [group = '', version] = apiVersion.split('/');
    const isCustom = CUSTOM_GROUPS.has(group);
    if (isCustom && customTypes === undefined) return [];
    const module = isCustom
      ? `${customTypes![group]}/${group}/${version}/${kind}.js`
      : `kubernetes-models/${apiVersion}`;
    return [
      `import type { I${kind} as Type${index} } from '${module}';`,
      `export const object${index}: Type${index} = ${JSON.stringify({ apiVersion, kind, ...rest })};`,
    ];
  });
  return typeFaults(lines.join('\n'));
}

/** The objects of one kind. */
export const ofKind = (objects: readonly KubernetesObject[], kind: string): KubernetesObject[] =>
  objects.filter((one) => one.kind === kind);

export function workloadsOf(objects: readonly KubernetesObject[]): Workload[] {
  return ['Deployment', 'StatefulSet', 'Job']
    .flatMap((kind) => ofKind(objects, kind))
    .map((object) => {
      const { metadata, spec } = object['spec'].template;
      if (spec.containers.length !== 1) throw new Error(`${object.metadata.name} has not one container`);
      return {
        object,
        name: object.metadata.name,
        labels: metadata.labels,
        pod: spec,
        container: spec.containers[0],
      };
    });
}

/** Whether a label selector of Kubernetes selects these labels. */
export function selects(
  selector: {
    matchLabels?: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values: string[] }[];
  },
  labels: Record<string, string>,
): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      if (operator !== 'In') throw new Error(`the operator ${operator} is not known here`);
      return values.includes(labels[key] ?? '');
    })
  );
}
