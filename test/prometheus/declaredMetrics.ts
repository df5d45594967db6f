import { readdirSync, readFileSync } from 'node:fs';

const FOLDERS = ['apps/api/src', 'apps/worker/src', 'apps/console/src', 'packages/runtime/src'];

/** The names of our own metrics that a source declares. */
const declaredIn = (path: string): string[] =>
  readFileSync(path, 'utf8').match(/(?<=(?:name: |gauge\(\s*|counter\(\s*)')onecode_[a-z_]+/g) ?? [];

/** The metrics that every API process serves for the whole service. */
export const SERVICE_METRICS: ReadonlySet<string> = new Set(declaredIn('apps/api/src/health.ts'));

/** All metrics of our own. */
export const OWN_METRICS: ReadonlySet<string> = new Set(
  FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => declaredIn(`${folder}/${name}`)),
  ),
);

/** The metric that a series belongs to: a histogram has three. */
export const metricOf = (series: string): string => series.replace(/_(?:bucket|count|sum)$/, '');
