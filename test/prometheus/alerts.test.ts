import { readFileSync } from 'node:fs';
import { FINDINGS } from '@onecode/domain';
import { parse } from 'yaml';
import { alerts, EXAMPLE, rules } from './alertRules.js';
import { metricOf, OWN_METRICS } from './declaredMetrics.js';

const OF_FINDINGS = new Set(['HealthFailing', 'HealthDegraded']);

describe('deploy/prometheus/alerts.yml', () => {
  it('links each alert to a heading of the runbooks, and every heading belongs to a finding or an alert', () => {
    const address = '{{ $externalLabels.onecode_docs }}/runbooks.md#';
    for (const { alert, annotations } of alerts)
      expect(annotations!.runbook_url).toBe(
        address + (OF_FINDINGS.has(alert!) ? '{{ $labels.finding }}' : alert!.toLowerCase()),
      );
    const headings = [...readFileSync('docs/runbooks.md', 'utf8').matchAll(/^## (.*)$/gm)].map(
      ([, name]) => name,
    );
    const others = alerts.map(({ alert }) => alert).filter((name) => !OF_FINDINGS.has(name!));
    expect(headings).toEqual([...Object.keys(FINDINGS), ...others]);
    const example = parse(readFileSync(EXAMPLE, 'utf8')) as {
      global: { external_labels: Record<string, string> };
    };
    expect(example.global.external_labels['onecode_docs']).toMatch(/^https:\/\/.*\/docs$/);
  });

  it('has the owners and severities that the runbooks list', () => {
    const rows = readFileSync('docs/runbooks.md', 'utf8').matchAll(
      /^\| `(\w+)` +\|[^|]*\|([^|]*)\|([^|]*)\|$/gm,
    );
    const namesIn = (cell: string): string[] =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!).toSorted();
    const listed = [...rows].map(([, owner, pages, tickets]) => [owner, namesIn(pages!), namesIn(tickets!)]);
    const known = (owner: string, isMeant: (severities: readonly string[]) => boolean): string[] =>
      Object.entries(FINDINGS)
        .filter(([, { owners, severities }]) => owners.some((one) => one === owner) && isMeant(severities))
        .map(([name]) => name)
        .toSorted();
    const owners = ['postgresql', 'redis', 'us', 'meta'].map((owner) => [
      owner,
      known(owner, (severities) => severities.includes('failing')),
      known(owner, (severities) => !severities.includes('failing')),
    ]);
    expect(listed).toEqual([...owners, ['held', known('held', () => true), []]]);
    for (const { alert, labels } of alerts) if (!OF_FINDINGS.has(alert!)) expect(labels!.owner).toBe('us');
  });

  it('queries only existing metrics', () => {
    const own = new Set(rules.map(({ record }) => record));
    const queried = rules
      .flatMap(({ expr }) => expr.match(/onecode[_:][a-z_0-9:]+/g) ?? [])
      .filter((name) => !own.has(name))
      .map(metricOf);
    expect(new Set(queried).size).toBeGreaterThan(3);
    expect(queried.filter((name) => !OWN_METRICS.has(name))).toEqual([]);
  });
});
