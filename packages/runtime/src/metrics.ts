import { createServer, type Server } from 'node:http';
import { collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';
import type { CommonConfig } from './config.js';
import { listen, SERVER_LIMITS } from './http.js';
import type { FailedCheck, Readiness } from './readiness.js';
import { COMMIT, VERSION } from './version.js';

export { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';

/** How often the event loop's utilization is computed. The default of 100 ms causes half of the wake-ups of an idle process. */
const UTILIZATION_MS = 5_000;
/** Turns off the samples of event loop lag, because each includes its own interval: the first would be taken after 24 days. */
const LAG_SAMPLE_MS = 2 ** 31 - 1;
const LAG_SAMPLES = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

/** Creates a registry with the default metrics of the process. */
export function createRegistry(processName: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ process: processName });
  collectDefaultMetrics({
    register: registry,
    eventLoopUtilizationTimeout: UTILIZATION_MS,
    eventLoopMonitoringPrecision: LAG_SAMPLE_MS,
  });
  for (const sample of LAG_SAMPLES) registry.removeSingleMetric(`nodejs_eventloop_lag_${sample}_seconds`);
  new Gauge({
    name: 'onecode_build_info',
    help: 'Always 1; the labels are the version and commit of the running release',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: VERSION, commit: COMMIT ?? '' }, 1);
  return registry;
}

/** Returns one line with the names of the failed checks, and one line for each with its reason. */
function notReady(failed: readonly FailedCheck[]): string {
  const names = failed.map(({ name }) => name).join(', ');
  return [`not ready: ${names}`, ...failed.map(({ name, reason }) => `${name}: ${reason}`), ''].join('\n');
}

/** Serves `/metrics`, `/livez` and `/readyz` on a separate port. */
export async function serveMetrics(
  registry: Registry,
  { METRICS_HOST, METRICS_PORT }: Pick<CommonConfig, 'METRICS_HOST' | 'METRICS_PORT'>,
  failedChecks: Readiness['failedChecks'],
): Promise<Server> {
  const server = createServer(SERVER_LIMITS, (request, response) => {
    const path = (request.url ?? '').split('?')[0];
    const text = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    };
    if (path === '/livez') return text(200, 'ok\n');
    if (path === '/readyz')
      return void failedChecks().then((failed) =>
        failed.length === 0 ? text(200, 'ok\n') : text(503, notReady(failed)),
      );
    if (path === '/metrics')
      return void registry.metrics().then(
        (metrics) => text(200, metrics, registry.contentType),
        () => text(500, 'metrics could not be collected\n'),
      );
    return text(404, 'not found\n');
  });
  await listen(server, METRICS_PORT, METRICS_HOST);
  return server;
}

/** Registers the gauge of this process's connections to PostgreSQL, by state. */
export function gaugeConnections(
  registry: Registry,
  pool: Readonly<Record<'totalCount' | 'idleCount' | 'waitingCount', number>>,
): void {
  const gauge = new Gauge({
    name: 'onecode_database_pool',
    help: 'Connections of this process to PostgreSQL, and statements waiting for a connection',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      gauge.set({ state: 'used' }, pool.totalCount - pool.idleCount);
      gauge.set({ state: 'idle' }, pool.idleCount);
      gauge.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
}
