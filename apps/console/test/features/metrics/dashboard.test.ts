import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDashboard } from '../../../src/features/metrics/dashboard.js';
import { fillVariables, RANGES, timeRange, type RangeName } from '../../../src/features/metrics/timeRange.js';

const FILE_TEXT = readFileSync('deploy/grafana/onecode.json', 'utf8');
const ranges = Object.keys(RANGES) as RangeName[];

describe('the dashboard’s file', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'onecode-dashboard-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const read = (from: string, to: string): unknown => {
    const file = join(folder, 'dashboard.json');
    expect(FILE_TEXT).toContain(from);
    writeFileSync(file, FILE_TEXT.replace(from, to));
    return readDashboard(file);
  };

  it('is refused with what the page cannot draw, rather than drawn wrongly', () => {
    expect(() => read('"type": "stat"', '"type": "gauge"')).toThrow(/onecode-dashboard-.*panels/);
    expect(() => read('"unit": "bytes"', '"unit": "celsius"')).toThrow(/panels/);
    expect(() => read('$__rate_interval', '$country')).toThrow(/unknown variable country/);
    expect(() => read('"mode": "absolute"', '"mode": "percentage"')).toThrow(/panels/);
  });

  it('gets windows of at least four scrapes for its rates, in either way of writing a variable', () => {
    const now = new Date('2026-11-24T12:00:00Z');
    const filled = ranges.map((name) =>
      fillVariables('rate(x{a=~"b$"}[$__rate_interval]) ${__interval}', timeRange(name, now)),
    );
    expect(filled).toEqual(
      ['60s]) 15s', '60s]) 15s', '105s]) 90s', '375s]) 360s', '2535s]) 2520s'].map(
        (end) => `rate(x{a=~"b$"}[${end}`,
      ),
    );
  });
});
