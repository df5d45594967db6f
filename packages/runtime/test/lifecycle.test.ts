import { startLoop } from '@onecode/runtime';
import { until } from '@onecode/testing';
import { messagesOf, startProcess } from './demoProcess.js';
import { killModules, linesOf } from './moduleProcess.js';

afterEach(killModules);

it('runProcess exits with 1 and prints one line without secrets if the start fails', async () => {
  const message = 'no way\nto\tpostgres://u:leaked@h/d with ak_live_planted0123';
  const { ended } = startProcess({ start: `throw new Error(${JSON.stringify(message)});` });
  const { stdout, ...result } = await ended;
  expect(messagesOf(stdout)).toEqual(['starting']);
  expect(result).toEqual({
    code: 1,
    stderr: 'demo: could not start: no way to postgres://[removed]@h/d with ak_live_[removed]\n',
  });
});

describe('a signal', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops the process gracefully with exit code 0: %s',
    async (signal) => {
      const child = startProcess({ stop: `await null; log.info('work released');` });
      await child.untilOutput('"ready"');
      child.kill(signal);
      const { code, stdout, stderr } = await child.ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(messagesOf(stdout)).toEqual([
        'starting',
        'ready',
        'stopping',
        'work released',
        'presence ended',
        'stopped',
      ]);
      expect(linesOf(stdout)[2]).toMatchObject({ signal });
    },
  );
});

it('runProcess waits for the shutdown delay between drain and stop, in addition to the stop’s time limit', async () => {
  // The process's clock advances only with SIGUSR2: to just before the end of the delay, to its end, to just before the end of the stop's
  // time limit, and to its end.
  const child = startProcess({
    before: `import { mock } from 'node:test';
      mock.timers.enable({ apis: ['setTimeout'] });
      const steps = [19_999, 1, 8_999, 1];
      process.on('SIGUSR2', () => {
        const ms = steps.shift();
        mock.timers.tick(ms);
        process.stdout.write(JSON.stringify({ msg: 'ticked ' + ms, left: steps.length }) + '\\n');
      });`,
    drain: `log.info('draining');`,
    delayMs: 20_000,
    stop: `log.info('stop began'); await new Promise(() => {});`,
  });
  await child.untilOutput('"ready"');
  child.kill('SIGTERM');
  await child.untilOutput('draining');
  child.kill('SIGINT');
  for (const left of [3, 2, 1]) {
    child.kill('SIGUSR2');
    await child.untilOutput(`"left":${left}`);
  }
  child.kill('SIGUSR2');
  const { code, stdout } = await child.ended;
  expect(code).toBe(0);
  expect(linesOf(stdout)[2]).toMatchObject({ signal: 'SIGTERM', delay_ms: 20_000 });
  expect(messagesOf(stdout)).toEqual([
    'starting',
    'ready',
    'stopping',
    'draining',
    'ticked 19999',
    'ticked 1',
    'stop began',
    'ticked 8999',
    'stop timed out',
  ]);
});

it.each([
  ['an uncaught exception', `setImmediate(() => { throw new Error('leaked ak_live_planted0123'); });`],
  [
    'an uncaught rejection',
    `setImmediate(() => { void Promise.reject(new Error('leaked ak_live_planted0123')); });`,
  ],
])('runProcess exits with 1 and logs a fatal line after %s', async (_, before) => {
  const child = startProcess({ before: `process.once('SIGUSR2', () => { ${before} });` });
  await child.untilOutput('"ready"');
  child.kill('SIGUSR2');
  const { code, stdout, stderr } = await child.ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(linesOf(stdout).at(-1)).toMatchObject({
    level: 'fatal',
    msg: 'uncaught error',
    err: { type: 'Error', message: 'leaked ak_live_[removed]' },
  });
});

describe('startLoop', () => {
  const HOUR_MS = 3_600_000;
  const unexpected = (error: unknown): void => {
    throw error;
  };

  it('repeats the work without overlapping runs', async () => {
    let runs = 0;
    let active = 0;
    let activeMax = 0;
    const run = async (): Promise<void> => {
      active += 1;
      activeMax = Math.max(activeMax, active);
      await new Promise(setImmediate);
      runs += 1;
      active -= 1;
    };
    const loop = startLoop(run, 0, unexpected);
    await until('20 runs', () => runs >= 20);
    await loop.stop();
    expect(activeMax).toBe(1);
  });

  it('reports a failed run and continues', async () => {
    const errors: unknown[] = [];
    let runs = 0;
    const loop = startLoop(
      async () => {
        runs += 1;
        if (runs === 1) throw new Error('first');
      },
      0,
      (error) => errors.push(error),
    );
    await until('3 runs', () => runs >= 3);
    await loop.stop();
    expect(errors).toEqual([new Error('first')]);
  });

  it('stops immediately during a pause', async () => {
    let runs = 0;
    const run = async (): Promise<void> => void (runs += 1);
    const loop = startLoop(run, HOUR_MS, unexpected);
    await until('a run', () => runs === 1);
    await loop.stop();
    expect(runs).toBe(1);
  });

  it('waits for the current run when it stops, and starts no other run', async () => {
    const events: string[] = [];
    let finish = (): void => {};
    const loop = startLoop(
      async () => {
        events.push('began');
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        events.push('ended');
      },
      0,
      unexpected,
    );
    await until('the first event', () => events.length === 1);
    const stopped = loop.stop().then(() => events.push('stopped'));
    await new Promise(setImmediate);
    expect(events).toEqual(['began']);
    finish();
    await stopped;
    expect(events).toEqual(['began', 'ended', 'stopped']);
  });
});
