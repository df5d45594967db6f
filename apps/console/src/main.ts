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
      await closeHttpServer(server);
      await queues.close();
      await presenceLoop.stop();
      await closeDatabase(database);
      await metrics.close();
    },
  };
});
