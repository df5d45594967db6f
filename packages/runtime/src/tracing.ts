import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  context,
  diag,
  DiagLogLevel,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
} from '@opentelemetry/api';
import type { CommonConfig } from './config.js';
import { repeatedFaults, type Logger } from './log.js';
import { VERSION } from './version.js';

export { SpanKind } from '@opentelemetry/api';

/** A new span, with the `traceparent` of its parent; null for none. The active span is the default. */
type NewSpan = SpanOptions & { parent?: string | null };

const EXPORT_MS_MAX = 1_000;

/** Until tracing starts, its spans record nothing and have no valid context. */
let tracer = trace.getTracer('onecode', VERSION);
let shutdown = async (): Promise<void> => {};

/**
 * Starts tracing if an endpoint is configured. OpenTelemetry's SDK is loaded only then, and reads its other settings from the environment.
 * Spans wait in a bounded queue; while the collector is unavailable, the oldest spans are kept and newer ones are dropped.
 *
 * @param serviceName the name of the resource, unless OTEL_SERVICE_NAME is set
 */
export async function startTracing(
  serviceName: string,
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: protocol }: CommonConfig,
  log: Logger,
): Promise<void> {
  if (endpoint === '') return;
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  const debug = (message: string): void => log.debug({ message }, 'OpenTelemetry');
  // The SDK reports variables that it ignores, and failed exports.
  const report = repeatedFaults(log, 'warn', 'OpenTelemetry');
  diag.setLogger(
    { error: (message) => report(new Error(message)), warn: debug, info: debug, debug, verbose: debug },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const provider = new NodeTracerProvider({
    resource: resources
      .resourceFromAttributes({
        'service.name': serviceName,
        'service.version': VERSION,
        'process.pid': process.pid,
      })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  tracer = provider.getTracer('onecode', VERSION);
  shutdown = () => provider.shutdown();
}

/** Ends tracing: exports the remaining spans, for up to a second. */
export async function stopTracing(): Promise<void> {
  await Promise.race([shutdown().catch(() => {}), wait(EXPORT_MS_MAX, undefined, { ref: false })]);
}

/**
 * Runs work inside a new active span. If the work throws, the span is marked with the name of the error only, because messages may quote
 * rows.
 */
export async function inSpan<T>(
  name: string,
  options: NewSpan,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return tracer.startActiveSpan(name, options, parentOf(options), async (span) => {
    try {
      return await work(span);
    } catch (error) {
      markFailed(span, error instanceof Error ? error.name : typeof error);
      throw error;
    } finally {
      span.end();
    }
  });
}

/** Records a span that ends now. @param options `startTime` is by `performance.now()` */
export function recordSpan(name: string, options: NewSpan & { startTime: number }): void {
  tracer.startSpan(name, options, parentOf(options)).end();
}

/** Marks a span as failed. @param type the kind of error, from a small set of values */
export function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Starts the span of a request, which continues the caller's trace. @returns null without tracing, or if `traced` does not match the path */
export function startRequestSpan(
  { method = '', url = '', headers }: IncomingMessage,
  requestId: string,
  traced: RegExp,
): Span | null {
  if (!traced.test(url)) return null;
  const attributes = { 'http.request.method': method, 'onecode.request_id': requestId };
  const options = { kind: SpanKind.SERVER, attributes };
  const span = tracer.startSpan(method, options, propagation.extract(ROOT_CONTEXT, headers));
  return trace.isSpanContextValid(span.spanContext()) ? span : null;
}

/** Runs work with an active span. */
export function runInSpan(span: Span, work: () => void): void {
  context.with(trace.setSpan(ROOT_CONTEXT, span), work);
}

/** Ends the span of a request. @param status undefined without a response */
export function endRequestSpan(span: Span, name: string, route: string, status: number | undefined): void {
  span.updateName(name).setAttribute('http.route', route);
  if (status !== undefined) span.setAttribute('http.response.status_code', status);
  if (status !== undefined && status >= 500) markFailed(span, String(status));
  span.end();
}

/** Returns the `traceparent` of a span; null without tracing. */
export function traceparentOf(span: Span): string | null {
  const headers: { traceparent?: string } = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), headers);
  return headers.traceparent ?? null;
}

/** Sets attributes of the active span, and links it to the span of a `traceparent`, if given. */
export function describeSpan(attributes: Attributes, linked: string | null = null): void {
  const span = trace.getActiveSpan();
  if (span === undefined) return;
  span.setAttributes(attributes);
  const context = trace.getSpanContext(contextOf(linked));
  if (context !== undefined) span.addLink({ context });
}

/** Returns the context of a new span's parent. */
const parentOf = ({ parent }: NewSpan): Context =>
  parent === undefined ? context.active() : contextOf(parent);

/** Returns the context of a `traceparent`; the root context for null. */
const contextOf = (traceparent: string | null): Context => propagation.extract(ROOT_CONTEXT, { traceparent });
