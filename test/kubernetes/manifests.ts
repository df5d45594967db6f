import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import type { Kustomize } from '../../scripts/services/kustomize.mjs';
import { typeFaults } from '../typeFaults.js';

export const FOLDER = fileURLToPath(new URL('../../deploy/kubernetes/', import.meta.url));
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

/** What runs containers: a Deployment, a StatefulSet or a Job. */
export interface Workload {
  object: KubernetesObject;
  name: string;
  labels: Record<string, string>;
  pod: Record<string, any>;
  container: Container;
}

/** Renders a folder of deploy/kubernetes. @throws with Kustomize's message when it refuses the folder */
export function render({ command, args }: Kustomize, folder: string): KubernetesObject[] {
  const { status, stdout, stderr } = spawnSync(command, [...args, FOLDER + folder], { encoding: 'utf8' });
  if (status !== 0 || stderr !== '') throw new Error(`Kustomize refuses ${folder}: ${stderr}`);
  // Kubernetes reads YAML 1.1.
  return parseAllDocuments(stdout, { version: '1.1' }).map((one) => one.toJS() as KubernetesObject);
}

/**
 * What Kubernetes' types say against objects: kinds that do not exist, members that are missing, of another type or misspelt, and
 * words that are none of a member's.
 */
export function manifestFaults(objects: readonly KubernetesObject[]): string[] {
  const lines = objects.flatMap(({ apiVersion, kind, ...rest }, index) => [
    `import type { I${kind} as Type${index} } from 'kubernetes-models/${apiVersion}';`,
    `export const object${index}: Type${index} = ${JSON.stringify({ apiVersion, kind, ...rest })};`,
  ]);
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
