import { readFileSync } from 'node:fs';
import { typeFaults } from '../typeFaults.js';
import { panelsOf, type DashboardJson } from './dashboard.js';
import { metricOf, OWN_METRICS, SERVICE_METRICS } from './declaredMetrics.js';

const FILE = 'deploy/grafana/onecode.json';
const text = readFileSync(FILE, 'utf8');
const dashboard = JSON.parse(text) as DashboardJson;

/** The faults that TypeScript finds in a dashboard by Grafana's own types. Members of enums are written as the strings that they are. */
const faultsOf = (json: string): string[] =>
  typeFaults(`import type { Dashboard } from '@grafana/schema';
type Plain<T> = T extends string ? \`\${T}\` : T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
export const dashboard: Plain<Dashboard> = ${json};
`);

describe('deploy/grafana/onecode.json', () => {
  it('is valid by Grafana’s types', () => {
    expect(faultsOf(text)).toEqual([]);
    expect(faultsOf(text.replace('"schemaVersion": 39', '"schemaVersion": "new"'))).not.toEqual([]);
    expect(faultsOf(text.replace('"mode": "absolute"', '"mode": "some"'))).not.toEqual([]);
  });

  it('queries only existing metrics, and service-wide metrics only once', () => {
    const queried = panelsOf(dashboard)
      .flatMap(({ targets = [] }) => targets)
      .flatMap(({ expr }) =>
        (expr.match(/\bonecode_[a-z_0-9]+/g) ?? []).map((name) => ({ expr, metric: metricOf(name) })),
      );
    expect(queried.length).toBeGreaterThan(10);
    expect(queried.filter(({ metric }) => !OWN_METRICS.has(metric))).toEqual([]);
    const ofService = queried.filter(({ metric }) => SERVICE_METRICS.has(metric));
    expect(ofService.length).toBeGreaterThan(3);
    expect(ofService.filter(({ expr }) => !expr.includes('max'))).toEqual([]);
  });
});
