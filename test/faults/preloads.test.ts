import { readFileSync } from 'node:fs';
import { startProcess, until } from '@onecode/testing';
import { stateOf } from '../../scripts/processes/processes.mjs';
import { crashPoints } from './cluster/crashPoints.mjs';

const PRELOAD = new URL('cluster/crashPoints.mjs', import.meta.url).pathname;
const CLOCK = new URL('cluster/clockOffset.mjs', import.meta.url).pathname;
const POINT = 'worker after taking';

/** This worker has no configuration, so it ends as soon as all modules are loaded. */
function startWorker(env: Record<string, string>) {
  return startProcess('apps/worker/dist/main.js', env);
}

describe('crash points', () => {
  const points = crashPoints();

  it('exist in the API and the worker, each exactly once', () => {
    const names = points.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('api ')).length).toBeGreaterThanOrEqual(7);
    expect(names.filter((name) => name.startsWith('worker ')).length).toBeGreaterThanOrEqual(12);
    expect(names).toEqual([...new Set(names)]);
  });

  it('are only comments in what production runs', () => {
    for (const { file } of points) {
      const code = readFileSync(file, 'utf8').replaceAll(/^[ \t]*\/\/ crash point: .+$/gm, '');
      expect(code).not.toMatch(/crash.?point/i);
    }
  });

  it.each([
    ['an unknown name', 'worker before lunch=#1'],
    ['no trigger', POINT],
    ['another action', `${POINT}=#1:sing`],
  ])('are refused with an error for %s', async (_, points) => {
    const worker = startWorker({ NODE_OPTIONS: `--import ${PRELOAD}`, CRASH_POINTS: points });
    expect(await worker.exited).toMatchObject({ code: 1 });
    expect(worker.stderr()).toMatch(/CRASH_POINTS/);
    expect(worker.stderr()).not.toMatch(/DATABASE_URL/);
  });

  it('kill and log it first', async () => {
    const process = startProcess('test/faults/cluster/crashPoints.mjs', {
      NODE_OPTIONS: `--import ${PRELOAD} --import ${visit(POINT)}`,
      CRASH_POINTS: `${POINT}=#1:kill:20`,
    });
    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(process.stderr()).toBe(`crash point: ${POINT}: kill\n`);
  });

  it('freeze the process until it is continued', async () => {
    const process = startProcess('test/faults/cluster/crashPoints.mjs', {
      NODE_OPTIONS: `--import ${PRELOAD} --import ${visit(POINT)}`,
      CRASH_POINTS: `${POINT}=#1:freeze`,
    });
    await until('the log line', () => process.stderr() === `crash point: ${POINT}: freeze\n`);
    // The log line comes before the freeze: continued too early, the process would then freeze for good.
    await until('the freeze', () => stateOf(process.pid).startsWith('T'));
    expect(process.ended()).toBeNull();
    process.signal('SIGCONT');
    await until('its output', () => process.stdout().includes('continued'));
    process.signal('SIGKILL');
    await process.exited;
  });
});

it.each([300_000, -300_000])(
  'a wrong clock is off by %i ms, and leaves given times alone',
  async (offsetMs) => {
    const code =
      'console.log(JSON.stringify([Date.now(), new Date().getTime(), new Date(7).getTime()])); process.exit(0)';
    const started = startProcess('test/faults/cluster/clockOffset.mjs', {
      CLOCK_OFFSET_MS: String(offsetMs),
      NODE_OPTIONS: `--import ${CLOCK} --import ${moduleOf(code)}`,
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

/** A module that visits a crash point once, as transformed code does. */
const visit = (name: string): string =>
  moduleOf(
    `onecodeCrashPoint(${JSON.stringify(name)}); console.log('continued'); setInterval(() => {}, 1000)`,
  );

const moduleOf = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
