import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { panelsOf, type DashboardJson } from './dashboard.js';

const FILE = 'deploy/grafana/onecode.json';
const text = readFileSync(FILE, 'utf8');
const dashboard = JSON.parse(text) as DashboardJson;

/** The faults that TypeScript finds in a dashboard by Grafana's own types. Beside `node_modules`, so that it finds them. */
function faultsOf(json: string): string[] {
  const parent = 'node_modules/.cache';
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'dashboard-'));
  const file = join(folder, 'dashboard.mts');
  // Members of enums are written as the strings that they are.
  writeFileSync(
    file,
    `import type { Dashboard } from '@grafana/schema';
type Plain<T> = T extends string ? \`\${T}\` : T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
export const dashboard: Plain<Dashboard> = ${json};
`,
  );
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--module',
    'nodenext',
    '--target',
    'es2022',
  ];
  const { stdout } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', ...options, file], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('deploy/grafana/onecode.json', () => {
  it('is a dashboard by Grafana’s types', () => {
    expect(faultsOf(text)).toEqual([]);
    expect(faultsOf(text.replace('"schemaVersion": 39', '"schemaVersion": "new"'))).not.toEqual([]);
    expect(faultsOf(text.replace('"mode": "absolute"', '"mode": "some"'))).not.toEqual([]);
  });

  it('has panels that fill its rows of 24 columns and overlap nowhere, each with a title and a query', () => {
    const cells = new Set<string>();
    for (const { title, gridPos, targets, type } of dashboard.panels) {
      const { x, y, w, h } = gridPos;
      expect(x + w).toBeLessThanOrEqual(24);
      for (let column = x; column < x + w; column++)
        for (let line = y; line < y + h; line++) {
          expect(cells).not.toContain(`${column} ${line}`);
          cells.add(`${column} ${line}`);
        }
      expect(title).toMatch(/\S/);
      if (type === 'row') continue;
      expect(targets?.length).toBeGreaterThan(0);
    }
    const height = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
    expect(cells.size).toBe(24 * height);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
  });

  it('asks for metrics that are listed, and for those of the whole service once', () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    const ofService = page.split('**Of a process.**')[0]!;
    for (const { expr } of panelsOf(dashboard).flatMap(({ targets = [] }) => targets))
      for (const [name] of expr.matchAll(/\bonecode_[a-z_0-9]+/g)) {
        const metric = `| \`${name.replace(/_(?:bucket|count|sum)$/, '')}\``;
        expect(page).toContain(metric);
        if (ofService.includes(metric)) expect(expr).toContain('max');
      }
  });
});
