import { closedPort, startTcpServer, startTraceCollector, until } from '@onecode/testing';
import { killModules, linesOf, startModule, type ModuleProcess } from './moduleProcess.js';

afterEach(killModules);

const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** Starts a process with a span in a trace, and a failed child span. It logs `ready` after they have ended. */
const startProcess = (env: Record<string, string> = {}): ModuleProcess =>
  startModule(
    `import { createReadiness, describeSpan, inSpan, runProcess, traceparentOf } from '@onecode/runtime';
     const { OTEL_EXPORTER_OTLP_ENDPOINT = '', OTEL_EXPORTER_OTLP_PROTOCOL } = process.env;
     const readConfig = () => ({ LOG_LEVEL: 'info', METRICS_HOST: '127.0.0.1', METRICS_PORT: 0, OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL });
     await runProcess('demo', readConfig, async (config, log) => {
       await inSpan('outer', { parent: '${PARENT}' }, async (span) => {
         log.info({ traceparent: traceparentOf(span) }, 'inside');
         describeSpan({ fact: 1 }, '${PARENT}');
         await inSpan('inner', {}, async () => { throw new TypeError('a secret'); }).catch(() => {});
       });
       const presence = { report: async () => null, end: async () => {} };
       return { readiness: createReadiness(log, {}), presence, stop: async () => {} };
     });`,
    env,
  );

it('startTracing exports the remaining spans at the stop, under OTEL_SERVICE_NAME', async () => {
  const collector = await startTraceCollector();
  const demo = startProcess({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20abc',
    OTEL_SERVICE_NAME: 'renamed',
  });
  await demo.untilOutput('"ready"');
  demo.kill('SIGTERM');
  expect((await demo.ended).code).toBe(0);
  const spans = collector.spans();
  const outer = spans.find(({ name }) => name === 'outer')!;
  const [, traceId, parentSpanId] = PARENT.split('-');
  expect(outer).toMatchObject({
    traceId,
    parentSpanId,
    service: 'renamed',
    attributes: { fact: 1 },
    links: [{ traceId, spanId: parentSpanId }],
  });
  const inner = {
    name: 'inner',
    traceId,
    parentSpanId: outer.spanId,
    attributes: { 'error.type': 'TypeError' },
  };
  expect(spans.find(({ name }) => name === 'inner')).toMatchObject(inner);
  expect(collector.received()).not.toContain('a secret');
  expect(collector.headers()['authorization']).toBe('Basic abc');
});

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

it('startTracing loads no SDK without an endpoint', async () => {
  const demo = startModule(
    `import Module from 'node:module';
     import { createLog, inSpan, startTracing, stopTracing, traceparentOf } from '@onecode/runtime';
     await startTracing('demo', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, createLog('demo', 'info'));
     const traceparent = await inSpan('work', { parent: '${PARENT}' }, async (span) => traceparentOf(span));
     const loaded = Object.keys(Module._cache).filter((path) => path.includes('@opentelemetry/sdk'));
     await stopTracing();
     process.stdout.write(JSON.stringify({ traceparent, loaded: loaded.length }));`,
  );
  const { code, stdout, stderr } = await demo.ended;
  expect({ code, stderr, ...JSON.parse(stdout) }).toEqual({
    code: 0,
    stderr: '',
    traceparent: null,
    loaded: 0,
  });
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
