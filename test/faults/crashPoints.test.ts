import { readFileSync } from 'node:fs';
import { stateOf } from '../../scripts/processes/processes.mjs';
import { startProcess } from '../harness/startedProcess.js';
import { until } from '../harness/until.js';
import { crashPoints } from './house/crashPoints.mjs';

const PRELOAD = new URL('house/crashPoints.mjs', import.meta.url).pathname;
const SOME = 'worker sweep after wake';

/** The worker's configuration is faulty here, so it ends as soon as everything is loaded. */
function startWorker(env: Record<string, string>) {
  return startProcess('apps/worker/dist/main.js', env);
}

describe('crash points', () => {
  const points = crashPoints();

  it('are there for the API and the worker, each exactly once', () => {
    const names = points.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('api ')).length).toBeGreaterThanOrEqual(7);
    expect(names.filter((name) => name.startsWith('worker ')).length).toBeGreaterThanOrEqual(12);
    expect(names).toEqual([...new Set(names)]);
  });

  it('are comments in what production runs, and nothing else of them is there', () => {
    for (const { file } of points) {
      const code = readFileSync(file, 'utf8').replaceAll(/^[ \t]*\/\/ crash point: .+$/gm, '');
      expect(code).not.toMatch(/crash.?point/i);
    }
  });

  it('stay comments where the preload is loaded and no variable names them', async () => {
    const code = "process.exitCode = typeof onecodeCrashPoint === 'undefined' ? 0 : 3";
    const { exited } = startProcess('test/faults/house/crashPoints.mjs', {
      NODE_OPTIONS: `--import ${PRELOAD} --import ${moduleOf(code)}`,
    });
    expect(await exited).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['a name that no file has', 'worker before lunch=#1'],
    ['no trigger', SOME],
    ['another action', `${SOME}=#1:sing`],
  ])('are refused loudly with %s', async (_, wanted) => {
    const worker = startWorker({ NODE_OPTIONS: `--import ${PRELOAD}`, CRASH_POINTS: wanted });
    expect(await worker.exited).toMatchObject({ code: 1 });
    expect(worker.stderr()).toMatch(/CRASH_POINTS/);
    expect(worker.stderr()).not.toMatch(/DATABASE_URL/);
  });

  it.each([
    ['at once', `${SOME}=#1`],
    ['always', `${SOME}=1`],
    ['a little later', `${SOME}=#1:kill:20`],
  ])('kill %s, and say so first', async (_, wanted) => {
    const process = startProcess('test/faults/house/crashPoints.mjs', {
      NODE_OPTIONS: `--import ${PRELOAD} --import ${visit(SOME)}`,
      CRASH_POINTS: wanted,
    });
    expect(await process.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(process.stderr()).toBe(`crash point: ${SOME}: kill\n`);
  });

  it('freeze until somebody wakes the process up', async () => {
    const process = startProcess('test/faults/house/crashPoints.mjs', {
      NODE_OPTIONS: `--import ${PRELOAD} --import ${visit(SOME)}`,
      CRASH_POINTS: `${SOME}=#1:freeze`,
    });
    await until('the word', () => process.stderr() === `crash point: ${SOME}: freeze\n`);
    // It says so just before: woken up too early, it would freeze afterwards, and for good.
    await until('the freeze', () => stateOf(process.pid).startsWith('T'));
    expect(process.ended()).toBeNull();
    process.signal('SIGCONT');
    await until('the end', () => process.stdout().includes('went on'));
    process.signal('SIGKILL');
    await process.exited;
  });
});

/** A module that comes by a crash point once, as transformed code does. */
function visit(name: string): string {
  return moduleOf(
    `onecodeCrashPoint(${JSON.stringify(name)}); console.log('went on'); setInterval(() => {}, 1000)`,
  );
}

const moduleOf = (code: string): string => `data:text/javascript,${encodeURIComponent(code)}`;
