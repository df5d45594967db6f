import {
  closeHttpServer,
  createReadiness,
  createRegistry,
  endConnectionsAfterAnswers,
  gaugeConnections,
  listen,
  openQueues,
  refuseUnfitDatabase,
  RELEASE,
  repeatedFaults,
  runProcess,
  serveMetrics,
  startPresence,
} from '@onecode/runtime';
import { closeDatabase, openDatabase, pingDatabase } from '@onecode/store/client';
import { createPresence } from '@onecode/store/operations';
import { createApp } from './app.js';
import { readConsoleConfig } from './config.js';
import { createHttpServer } from './server.js';

/** How long a download may continue when the process stops. */
const DOWNLOAD_MS_MAX = 5_000;

await runProcess('console', readConsoleConfig, async (config, log) => {
  const registry = createRegistry('console');
  const database = openDatabase(config.DATABASE_URL, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    pooler: config.DATABASE_POOLER,
    onConnectionError: repeatedFaults(log, 'warn', 'database connection lost'),
  });
  const presence = createPresence(database, { kind: 'console', release: RELEASE });
  await refuseUnfitDatabase(presence);
  const queues = openQueues(config);
  const server = createHttpServer().on('request', createApp({ config, database, queues, log }));
  await listen(server, config.PORT, config.HOST);
  gaugeConnections(registry, database.pool);
  const readiness = createReadiness(
    log,
    { database: () => pingDatabase(database) },
    { redis: () => queues.ping() },
  );
  const metrics = await serveMetrics(registry, config, readiness);
  const presenceLoop = await startPresence(presence, log);
  log.info({ address: server.address(), metrics_port: metrics.port }, 'ready');

  return {
    drain() {
      readiness.drain();
      endConnectionsAfterAnswers(server);
    },
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
    async stop() {
      // A download may take longer than the process has for its shutdown, so it is cut off.
      const cut = setTimeout(() => server.closeAllConnections(), DOWNLOAD_MS_MAX);
      await closeHttpServer(server);
      clearTimeout(cut);
      await queues.close();
      await presenceLoop.stop();
      await closeDatabase(database);
      await metrics.close();
    },
  };
});
