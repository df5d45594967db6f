import { startTraceCollector } from '@onecode/testing';
import { killModules, startModule } from './moduleProcess.js';
import { PARENT, startProcess } from './tracedProcess.js';

afterEach(killModules);

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
