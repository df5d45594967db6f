import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import {
  context,
  diag,
  DiagLogLevel,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { address, oneOf, text } from './config.js';
import { requestIdOf, setRequestFact, statusOf } from './http.js';
import type { Logger } from './log.js';
import { parseTraceparent } from './traceparent.js';
import { VERSION } from './version.js';

export type { Span } from '@opentelemetry/api';

/** The environment variables of tracing. The first one turns it on. OpenTelemetry's SDK reads the last three itself. */
export const TRACING = {
  OTEL_EXPORTER_OTLP_ENDPOINT: address(['http', 'https'], ''),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf', 'http/json'], 'http/protobuf'),
  OTEL_EXPORTER_OTLP_HEADERS: text(''),
  OTEL_TRACES_SAMPLER: text(''),
  OTEL_TRACES_SAMPLER_ARG: text(''),
};

/** The running export of this process's spans. */
export interface Tracing {
  /** Exports the remaining spans, for up to a second. */
  stop(): Promise<void>;
}

interface SpanOptions {
  /** `internal` by default. */
  kind?: keyof typeof KINDS;
  /** The `traceparent` of the parent span; null for none. The active span is the default. */
  parent?: string | null;
  /** The start, by `performance.now()`. Now is the default. */
  beganAt?: number;
  attributes?: Attributes;
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

const EXPORT_MS_MAX = 1_000;
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** Null without tracing, so that a span costs only one comparison. */
let tracer: Tracer | null = null;

/**
 * Starts tracing if an endpoint is configured. OpenTelemetry's SDK is loaded only then, and reads its other settings from the environment.
 * Spans wait in a bounded queue; while the collector is unavailable, the oldest spans are kept and newer ones are dropped.
 *
 * @param serviceName the name of the resource, unless OTEL_SERVICE_NAME is set
 */
export async function startTracing(
  serviceName: string,
  {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol = 'http/protobuf',
  }: { OTEL_EXPORTER_OTLP_ENDPOINT: string; OTEL_EXPORTER_OTLP_PROTOCOL?: string },
  log: Logger,
): Promise<Tracing> {
  if (endpoint === '') return { stop: async () => {} };
  const [{ NodeTracerProvider, BatchSpanProcessor }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/resources'),
  ]);
  let isStarted = false;
  const debug = (message: string): void => log.debug({ message }, 'OpenTelemetry');
  // At the start, the SDK's errors are about variables that it ignores. Later ones are about exports, which `exportReporter` logs.
  const error = (message: string): void =>
    isStarted ? debug(message) : log.warn({ message }, 'OpenTelemetry');
  diag.setLogger(
    { error, warn: debug, info: debug, debug, verbose: debug },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter();
  const report = exportReporter(log);
  const provider = new NodeTracerProvider({
    resource: resources
      .resourceFromAttributes({
        'service.name': serviceName,
        'service.version': VERSION,
        'process.pid': process.pid,
      })
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        export: (spans, done) =>
          exporter.export(spans, (result) => {
            report(result.error ?? null);
            done(result);
          }),
        forceFlush: () => exporter.forceFlush(),
        shutdown: () => exporter.shutdown(),
      }),
    ],
  });
  isStarted = true;
  provider.register({ propagator: null });
  tracer = provider.getTracer('onecode', VERSION);
  return {
    async stop() {
      const late = wait(EXPORT_MS_MAX, undefined, { ref: false });
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

/** Returns a function that logs the first of consecutive failures, and the recovery. */
function exportReporter(log: Logger): (error: Error | null) => void {
  let isFailing = false;
  return (error) => {
    if (error === null && isFailing) log.info('span export recovered');
    if (error !== null && !isFailing) log.warn({ err: error }, 'span export failed');
    isFailing = error !== null;
  };
}

export const isTracing = (): boolean => tracer !== null;

/** Starts a span; the caller ends it. Without tracing it records nothing. */
export function startSpan(name: string, { kind, parent, beganAt, attributes }: SpanOptions = {}): Span {
  if (tracer === null) return NO_SPAN;
  const settings = {
    kind: KINDS[kind ?? 'internal'],
    ...(beganAt !== undefined && { startTime: beganAt }),
    ...(attributes !== undefined && { attributes }),
  };
  return tracer.startSpan(name, settings, parent === undefined ? context.active() : contextOf(parent));
}

/** Calls `next` with the span as the active span. */
export function withSpan<T>(span: Span, next: () => T): T {
  return context.with(trace.setSpan(context.active(), span), next);
}

/**
 * Runs work inside a new active span. If the work throws, the span is marked with the name of the error only, because messages may quote
 * rows. Without tracing, the span records nothing.
 */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  if (tracer === null) return work(NO_SPAN);
  const span = startSpan(name, options);
  try {
    return await withSpan(span, () => work(span));
  } catch (error) {
    markFailed(span, error instanceof Error ? error.name : typeof error);
    throw error;
  } finally {
    span.end();
  }
}

/** Records a span that ends now. */
export function recordSpan(name: string, options: SpanOptions & { beganAt: number }): void {
  if (tracer !== null) startSpan(name, options).end();
}

/** Marks a span as failed. @param type the kind of error, from a small set of values */
export function markFailed(span: Span, type: string): void {
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/**
 * Returns middleware that starts a span for each traced request, which continues the caller's trace. It runs after `requestLog`, and is
 * used only if `isTracing()`.
 *
 * @param traced matches the paths that are traced
 * @param routeOf returns the route's pattern, not the path
 */
export function requestSpan(
  traced: RegExp,
  routeOf: (request: IncomingMessage) => string,
): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  return (request, response, next) => {
    if (!traced.test(request.url ?? '')) return next();
    const { method = '' } = request;
    const span = startSpan(method, {
      kind: 'server',
      parent: parseTraceparent(request.headers['traceparent']),
      attributes: { 'http.request.method': method, 'onecode.request_id': requestIdOf(request) },
    });
    setRequestFact(request, 'trace_id', span.spanContext().traceId);
    response.once('close', () => {
      const route = routeOf(request);
      const status = statusOf(response);
      span.updateName(`${method} ${route}`);
      span.setAttribute('http.route', route);
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (status !== undefined && status >= 500) markFailed(span, String(status));
      span.end();
    });
    withSpan(span, next);
  };
}

/** Returns the `traceparent` of a span; null without tracing. */
export function traceparentOf(span: Span): string | null {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return isSpanContextValid(span.spanContext())
    ? `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
    : null;
}

/** Sets attributes of the active span, and links it to the span of a `traceparent`, if given. */
export function describeSpan(attributes: Attributes, linked: string | null = null): void {
  if (tracer === null) return;
  const span = trace.getActiveSpan();
  span?.setAttributes(attributes);
  if (linked !== null) span?.addLink({ context: spanContextOf(linked) });
}

function contextOf(traceparent: string | null): Context {
  return traceparent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContextOf(traceparent));
}

function spanContextOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
