import type { IncomingHttpHeaders } from 'node:http';
import { startLocalServer, type LocalServer } from './localServer.js';
import { runningUntilEnd } from './running.js';

const running = runningUntilEnd<LocalServer>((server) => void server.close());

/** A span that a collector received. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  /** '' for the root span of its trace. */
  parentSpanId: string;
  name: string;
  service: string;
  attributes: Readonly<Record<string, unknown>>;
  links: readonly { traceId: string; spanId: string }[];
}

/** A collector of OpenTelemetry spans: OTLP over HTTP. It parses those in JSON. */
export interface TraceCollector {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans(): CollectedSpan[];
  /** Returns all received bodies as text. */
  received(): string;
  headers(): IncomingHttpHeaders;
}

interface Exported {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: ExportedSpan[] }[];
  }[];
}

type Attribute = { key: string; value: Record<string, unknown> };

interface ExportedSpan extends Pick<CollectedSpan, 'traceId' | 'spanId' | 'name'> {
  parentSpanId?: string;
  attributes: Attribute[];
  links?: CollectedSpan['links'];
}

/**
 * Starts a collector on a free port. It runs until the end of the test file.
 *
 * @param statusOf returns the status of the next response; 200 by default
 */
export async function startTraceCollector(statusOf: () => number = () => 200): Promise<TraceCollector> {
  const bodies: string[] = [];
  let headers: IncomingHttpHeaders = {};
  const server = await startLocalServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        ({ headers } = request);
        if (request.url === '/v1/traces') bodies.push(Buffer.concat(chunks).toString());
        response.writeHead(statusOf(), { 'content-type': 'application/json' }).end('{}');
      });
  });
  running.add(server);
  return {
    url: server.url,
    spans: () => bodies.flatMap((body) => spansOf(JSON.parse(body) as Exported)),
    received: () => bodies.join('\n'),
    headers: () => headers,
  };
}

function spansOf({ resourceSpans }: Exported): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId = '', name, attributes, links = [] }) => ({
        traceId,
        spanId,
        parentSpanId,
        name,
        service,
        attributes: valuesOf(attributes),
        links,
      })),
    );
  });
}

function valuesOf(attributes: readonly Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
