import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { CONFIG, messagesOf, startProcess } from './demoProcess.js';
import { killModules, linesOf, startModule } from './moduleProcess.js';

afterEach(killModules);

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
