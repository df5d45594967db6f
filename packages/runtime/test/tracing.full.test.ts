import { closedPort, startTcpServer, startTraceCollector, until } from '@onecode/testing';
import { killModules, linesOf, startModule } from './moduleProcess.js';
import { startProcess } from './tracedProcess.js';

afterEach(killModules);

it('startTracing exports protobuf unless JSON is configured', async () => {
  const collector = await startTraceCollector();
  const demo = startProcess({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await demo.untilOutput('"ready"');
  demo.kill('SIGTERM');
  expect((await demo.ended).code).toBe(0);
  expect(collector.headers()['content-type']).toBe('application/x-protobuf');
  // In protobuf, texts are their own UTF-8 bytes.
  for (const text of ['service.name', 'demo', 'outer', 'inner', 'error.type', 'TypeError'])
    expect(collector.received()).toContain(text);
  expect(collector.received()).not.toContain('a secret');
});

it.each([
  ['is unavailable', closedPort],
  ['never answers', () => startTcpServer()],
])('runProcess stops gracefully while the collector %s', async (_what, portOf) => {
  const demo = startProcess({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await portOf()}` });
  await demo.untilOutput('"ready"');
  demo.kill('SIGTERM');
  const { code, stdout } = await demo.ended;
  expect(code).toBe(0);
  const messages = linesOf(stdout).map(({ msg }) => msg);
  expect(messages.at(-1)).toBe('stopped');
  expect(messages).not.toContain('stop timed out');
});

it('startTracing logs one warning while the collector refuses spans', async () => {
  let refused = 0;
  const { url } = await startTraceCollector(() => {
    refused += 1;
    return 400;
  });
  const demo = startModule(
    `import { createLog, inSpan, startTracing } from '@onecode/runtime';
     await startTracing('demo', process.env, createLog('demo', 'info'));
     setInterval(() => inSpan('work', {}, async () => {}), 20);`,
    { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_BSP_SCHEDULE_DELAY: '20' },
  );
  await until('three refusals', () => refused >= 3);
  demo.kill('SIGKILL');
  const lines = linesOf((await demo.ended).stdout);
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'OpenTelemetry', err: { message: expect.stringContaining('Bad Request') } },
  ]);
});

it('startTracing warns about an unknown sampler, and samples every trace', async () => {
  const collector = await startTraceCollector();
  const demo = startProcess({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'unknown' });
  await demo.untilOutput('"ready"');
  demo.kill('SIGTERM');
  const lines = linesOf((await demo.ended).stdout);
  expect(lines.find(({ msg }) => msg === 'OpenTelemetry')).toMatchObject({
    level: 'warn',
    err: { message: expect.stringContaining('OTEL_TRACES_SAMPLER') },
  });
  for (const span of ['outer', 'inner']) expect(collector.received()).toContain(span);
});
