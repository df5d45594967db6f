import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { host, port } from './config.js';
import { listen } from './http.js';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What a process needs to be ready, by name. Each check resolves or throws. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

const CHECK_MS_MAX = 1_000;

/** How often the event loop's lag is sampled. The default of 10 ms costs an idle process up to 1% of a processor. */
const LAG_SAMPLE_MS = 100;

/** A registry that has the metrics of the process itself. */
export function createRegistry(processName: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process: processName });
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  return registry;
}

/** Runs the checks concurrently. @returns the names of those that failed or took longer than a second */
export async function failedChecks(checks: ReadinessChecks): Promise<string[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => ((await answersInTime(check)) ? [] : [name])),
  );
  return results.flat();
}

async function answersInTime(check: () => Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_MS_MAX);
  });
  const answer = (async () => check())().then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export interface MetricsServer {
  port: number;
  /** From now on, `/readyz` answers that the process is stopping. */
  draining(): void;
  close(): Promise<void>;
}

/** Where metrics are served. They tell much about a business, and so stay on this machine by default. */
export interface MetricsAddress {
  METRICS_HOST: string;
  /** 0 takes a free port. */
  METRICS_PORT: number;
}

/** The environment variables of `MetricsAddress`. */
export const METRICS_ADDRESS = { METRICS_HOST: host('127.0.0.1'), METRICS_PORT: port(0) };

/** Serves `/metrics`, `/livez` and `/readyz` on a port of their own. */
export async function serveMetrics(
  registry: Registry,
  { METRICS_HOST, METRICS_PORT }: MetricsAddress,
  checks: ReadinessChecks,
): Promise<MetricsServer> {
  let draining = false;
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    const text = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    };
    if (path === '/livez') return text(200, 'ok\n');
    if (path === '/readyz')
      return void (draining ? Promise.resolve(['stopping']) : failedChecks(checks)).then((failed) =>
        failed.length === 0 ? text(200, 'ok\n') : text(503, `not ready: ${failed.join(', ')}\n`),
      );
    if (path === '/metrics')
      return void registry.metrics().then(
        (metrics) => text(200, metrics, registry.contentType),
        () => text(500, 'metrics could not be collected\n'),
      );
    return text(404, 'not found\n');
  });
  await listen(server, METRICS_PORT, METRICS_HOST);
  return {
    port: (server.address() as AddressInfo).port,
    draining: () => {
      draining = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
