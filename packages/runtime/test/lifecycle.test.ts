import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startLoop } from '@onecode/runtime';
import { until } from '@onecode/testing';
import { killModules, linesOf, startModule, type ModuleProcess } from './moduleProcess.js';

afterEach(killModules);

const CONFIG = {
  LOG_LEVEL: 'info',
  METRICS_HOST: '127.0.0.1',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
};

/** Starts a process that runs `start` at its start and `stop` at its stop. It logs `ready` at the end of its start. */
function startProcess(parts: {
  before?: string;
  start?: string;
  report?: string;
  drain?: string;
  delayMs?: number;
  port?: number;
  stop?: string;
}): ModuleProcess {
  return startModule(
    `import { runProcess } from '@onecode/runtime';
     const alive = setInterval(() => {}, 1000);
     ${parts.before ?? ''}
     const readConfig = () => (${JSON.stringify({ ...CONFIG, METRICS_PORT: parts.port ?? 0, SHUTDOWN_DELAY_MS: parts.delayMs })});
     await runProcess('demo', readConfig, async (config, log) => {
       ${parts.start ?? ''}
       return {
         readiness: { failedChecks: async () => [], drain() { ${parts.drain ?? ''} } },
         presence: {
           report: async () => { ${parts.report ?? 'return null;'} },
           end: async () => log.info('presence ended'),
         },
         async stop() { ${parts.stop ?? ''} },
       };
     });`,
  );
}

const messagesOf = (stdout: string): unknown[] => linesOf(stdout).map((line) => line['msg']);

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

it('runProcess exits with 1, prints one line and takes no work if the metrics port is in use', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const start = `log.info('work taken');`;
  const { ended } = startProcess({ port, start, report: `log.info('recorded'); return null;` });
  const { code, stdout, stderr } = await ended;
  other.close();
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `demo: could not start: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`,
  });
  expect(messagesOf(stdout)).toEqual(['starting']);
});

it('runProcess records that the process runs, and exits with 1 if it cannot work with the database', async () => {
  const { ended } = startProcess({ report: `return 'the schema is too new';` });
  const { code, stdout } = await ended;
  expect(code).toBe(1);
  expect(linesOf(stdout).at(-1)).toMatchObject({ level: 'fatal', fault: 'the schema is too new' });
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

  it('takes effect after the start if it arrives during the start', async () => {
    const child = startProcess({
      start: `process.stdout.write('{"msg":"waiting"}\\n');
        await new Promise((resolve) => process.once('SIGTERM', resolve));`,
      stop: `log.info('work released');`,
    });
    await child.untilOutput('waiting');
    child.kill('SIGTERM');
    const { code, stdout } = await child.ended;
    expect(code).toBe(0);
    expect(messagesOf(stdout)).toEqual([
      'starting',
      'waiting',
      'ready',
      'stopping',
      'work released',
      'presence ended',
      'stopped',
    ]);
  });

  it('has no effect while the process stops', async () => {
    const child = startProcess({
      stop: `log.info('stop began'); await new Promise((resolve) => process.once('SIGINT', resolve)); log.info('stop ended');`,
    });
    await child.untilOutput('"ready"');
    child.kill('SIGTERM');
    await child.untilOutput('stop began');
    child.kill('SIGINT');
    const { code, stdout } = await child.ended;
    expect(code).toBe(0);
    expect(messagesOf(stdout)).toEqual([
      'starting',
      'ready',
      'stopping',
      'stop began',
      'stop ended',
      'presence ended',
      'stopped',
    ]);
  });

  it('ends the process with exit code 1 when the stop fails', async () => {
    const child = startProcess({ stop: `throw new Error('no');` });
    await child.untilOutput('"ready"');
    child.kill('SIGTERM');
    const { code, stdout } = await child.ended;
    expect(code).toBe(1);
    expect(linesOf(stdout).at(-1)).toMatchObject({ level: 'fatal', msg: 'uncaught error' });
  });
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

/** Creates short-lived and long-lived garbage, and prints the maximum size of both parts of the heap. */
const WORK = `
  const { getHeapSpaceStatistics } = await import('node:v8');
  const sizeOf = (name) => getHeapSpaceStatistics().find((space) => space.space_name === name).space_size;
  const sizes = { young: 0, old: 0 };
  const alive = [];
  for (let made = 0; made < 1_500_000; made++) {
    alive[made % 200_000] = { made, text: 'n'.repeat(1 + (made % 9)), more: [made] };
    if (made % 5_000 !== 0) continue;
    sizes.young = Math.max(sizes.young, sizeOf('new_space'));
    sizes.old = Math.max(sizes.old, sizeOf('old_space'));
  }
  process.stdout.write(JSON.stringify(sizes));
  process.exit(0);`;

async function work(source: string): Promise<{ young: number; old: number }> {
  const { code, stdout, stderr } = await startModule(source).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as { young: number; old: number };
}

it('runProcess keeps less long-lived garbage than the defaults of Node.js, with an equal young generation', async () => {
  const ours = await work(
    `import { runProcess } from '@onecode/runtime'; await runProcess('demo', () => (${JSON.stringify({ ...CONFIG, METRICS_PORT: 0, LOG_LEVEL: 'silent' })}), async () => { ${WORK} });`,
  );
  const plain = await work(`import '@onecode/runtime'; ${WORK}`);
  expect(ours.young).toBe(plain.young);
  expect(ours.old).toBeLessThan((plain.old * 2) / 3);
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
