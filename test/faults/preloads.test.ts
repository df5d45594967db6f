import { readFileSync } from 'node:fs';
import { startProcess } from '@onecode/testing';
import { crashPoints } from './cluster/crashPoints.mjs';

const CLOCK = new URL('cluster/clockOffset.mjs', import.meta.url).href;

describe('crash points', () => {
  const points = crashPoints();

  it('exist in the API and the worker, each exactly once', () => {
    const names = points.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('api ')).length).toBeGreaterThanOrEqual(7);
    expect(names.filter((name) => name.startsWith('worker ')).length).toBeGreaterThanOrEqual(12);
    expect(names).toEqual([...new Set(names)]);
  });

  it('are only comments in production code', () => {
    for (const { file } of points) {
      const code = readFileSync(file, 'utf8').replaceAll(/^[ \t]*\/\/ crash point: .+$/gm, '');
      expect(code).not.toMatch(/crash.?point/i);
    }
  });
});

it.each([300_000, -300_000])(
  'the preload for a wrong clock shifts the current time by %i ms, but not given times',
  async (offsetMs) => {
    const code =
      'console.log(JSON.stringify([Date.now(), new Date().getTime(), new Date(7).getTime()])); process.exit(0)';
    const started = startProcess('test/faults/cluster/clockOffset.mjs', {
      CLOCK_OFFSET_MS: String(offsetMs),
      NODE_OPTIONS: `--import ${CLOCK} --import data:text/javascript,${encodeURIComponent(code)}`,
    });
    const before = Date.now();
    await started.exited;
    const [now, made, given] = JSON.parse(started.stdout()) as number[];
    for (const time of [now!, made!]) {
      expect(time).toBeGreaterThanOrEqual(before + offsetMs);
      expect(time).toBeLessThanOrEqual(Date.now() + offsetMs);
    }
    expect(given).toBe(7);
  },
);
