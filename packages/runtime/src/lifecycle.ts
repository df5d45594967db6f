import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { ConfigError, type CommonConfig } from './config.js';
import { closeHttpServer, listen } from './http.js';
import { createLog, faultLine, type Logger } from './log.js';
import { startLoop } from './loop.js';
import { createRegistry, serveMetrics, type Registry } from './metrics.js';
import type { FailedCheck, Readiness } from './readiness.js';
import { startTracing, stopTracing } from './tracing.js';
import { COMMIT, VERSION } from './version.js';

/** The parts of a process that has started. */
interface Running {
  readiness: Readiness;
  presence: Presence;
  /** Takes requests at `PORT` from the end of the start until the stop. */
  server?: Server;
  /** Stops other work, and finishes or releases the work in progress. The exit of the process closes its connections. */
  stop?: () => Promise<void>;
}

/**
 * Limits the memory of a process under load: a full collection runs after each growth by 30%, about two a second in a busy process, 6 ms
 * each. By default, V8 lets the heap grow to four times its live objects. The young generation has no limit: with one, it would keep the
 * small size of an idle process and be collected every few milliseconds.
 */
const SMALL_HEAP = '--heap-growing-percent=30';

/** The time limit of a stop: supervisors kill a process ten seconds after SIGTERM and its shutdown delay. */
const STOP_MS_MAX = 9_000;

/**
 * Runs a process: serves its metrics and starts it, then takes requests and records its presence until a signal. An invalid configuration
 * or a failed start ends it with one line for each fault and exit code 1. After SIGTERM or SIGINT, it reports that it is not ready and
 * still takes work for its shutdown delay. Then it stops gracefully, with exit code 0, and exports its remaining spans. An uncaught error
 * ends it with exit code 1, because it leaves an unknown state.
 */
export async function runProcess<
  Config extends CommonConfig & { PORT?: number; HOST?: string; SHUTDOWN_DELAY_MS?: number },
>(
  name: string,
  readConfig: (env: NodeJS.ProcessEnv) => Config,
  start: (config: Config, log: Logger, registry: Registry) => Promise<Running>,
): Promise<void> {
  setFlagsFromString(SMALL_HEAP);
  // A signal during the start takes effect after it.
  const signalled = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, resolve);
  });
  let config: Config;
  let log: Logger;
  let running: Running | undefined;
  const failedChecks = async (): Promise<FailedCheck[]> =>
    running?.readiness.failedChecks() ?? [{ name: 'starting', reason: 'the process is starting' }];
  try {
    config = readConfig(process.env);
    log = createLog(name, config.LOG_LEVEL);
    log.info({ version: VERSION, commit: COMMIT }, 'starting');
    await startTracing(`onecode-${name}`, config, log);
    const registry = createRegistry(name);
    // Before the start, which takes work: a process that cannot use its port would leave the work unfinished.
    const metricsServer = await serveMetrics(registry, config, failedChecks);
    running = await start(config, log, registry);
    const { server } = running;
    if (server !== undefined) await listen(server, config.PORT ?? 0, config.HOST);
    const metricsPort = (metricsServer.address() as AddressInfo).port;
    log.info({ address: server?.address(), metrics_port: metricsPort }, 'ready');
  } catch (error) {
    const lines = error instanceof ConfigError ? error.faults : [`could not start: ${faultLine(error)}`];
    for (const line of lines) process.stderr.write(`${name}: ${line}\n`);
    process.exit(1);
  }
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error');
    process.exit(1);
  });

  const { server, readiness, presence, stop } = running;
  const onReportFault = (error: unknown): void => log.debug({ err: error }, 'presence report failed');
  // Only after the start: a process that failed to start, for example because its port is in use, is not recorded.
  const presenceLoop = startLoop(() => recordPresence(presence, log), REPORT_PAUSE_MS, onReportFault);

  const { SHUTDOWN_DELAY_MS: delayMs = 0 } = config;
  const signal = await signalled;
  log.info({ signal, ...(delayMs > 0 && { delay_ms: delayMs }) }, 'stopping');
  readiness.drain();
  // Closes each connection after its next response, so that clients with persistent connections move to another process.
  server?.prependListener('request', (_request, response) => (response.shouldKeepAlive = false));
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  setTimeout(() => {
    log.warn('stop timed out');
    process.exit(0);
  }, STOP_MS_MAX);
  if (server !== undefined) await closeHttpServer(server);
  await stop?.();
  await presenceLoop.stop();
  await presence.end().catch(onReportFault);
  await stopTracing();
  log.info('stopped');
  process.exit(0);
}

/** Half of the time after which the health page reports a worker's loops as late. */
const REPORT_PAUSE_MS = 5_000;

/** Records in the database that a process is running. */
interface Presence {
  /** Records this process, unless it cannot work with the database. @returns why it cannot, or null */
  report: () => Promise<string | null>;
  end: () => Promise<void>;
}

/** Records that the process runs. Ends it with exit code 1 if it cannot work with a database that was unavailable at the start. */
async function recordPresence({ report }: Presence, log: Logger): Promise<void> {
  const fault = await report();
  if (fault === null) return;
  log.fatal({ fault }, 'database unusable');
  process.exit(1);
}
