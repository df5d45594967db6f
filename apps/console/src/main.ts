import {
  closeHttpServer,
  COMMIT,
  createLog,
  createRegistry,
  endConnectionsAfterAnswers,
  gaugeConnections,
  listen,
  openQueues,
  refuseUnfitDatabase,
  RELEASE,
  runProcess,
  serveMetrics,
  startPresence,
  VERSION,
  watchServices,
} from '@onecode/runtime';
import {
  checkDatabase,
  closeDatabase,
  countConnections,
  createPresence,
  openDatabase,
  refuseUnusableDatabase,
} from '@onecode/store';
import { createApp, readinessChecks } from './app.js';
import { readConsoleConfig } from './config.js';
import { createHttpServer } from './server.js';

await runProcess('console', async () => {
  const config = readConsoleConfig(process.env);
  const log = createLog('console', config.LOG_LEVEL);
  log.info({ version: VERSION, commit: COMMIT }, 'starting');
  const registry = createRegistry('console');
  const database = openDatabase(config.DATABASE_URL, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    onConnectionError: (error) => log.warn({ err: error }, 'a database connection broke'),
    onMissingSettings: (settings) => log.warn({ settings }, 'the pooler’s sessions lack settings'),
  });
  await refuseUnusableDatabase(database);
  const presence = createPresence(database, { kind: 'console', release: RELEASE });
  await refuseUnfitDatabase(presence);
  const queues = openQueues({
    redisUrl: config.REDIS_URL,
    redisCa: config.REDIS_CA_FILE,
    prefix: config.QUEUE_PREFIX,
    onError: (error) => log.debug({ err: error }, 'Redis is not reachable'),
  });
  const server = createHttpServer().on('request', createApp({ config, database, queues, log }));
  await listen(server, config.PORT, config.HOST);
  gaugeConnections(registry, () => countConnections(database));
  const metrics = await serveMetrics(registry, config, readinessChecks(database));
  const watch = watchServices(log, {
    PostgreSQL: () => checkDatabase(database),
    Redis: () => queues.ping(),
  });
  const presenceLoop = await startPresence(presence, log);
  log.info({ address: server.address(), metrics_port: metrics.port }, 'ready');

  return {
    log,
    drain() {
      metrics.draining();
      endConnectionsAfterAnswers(server);
    },
    shutdownDelayMs: config.SHUTDOWN_DELAY_MS,
    async stop() {
      await watch.stop();
      await closeHttpServer(server);
      await queues.close();
      await presenceLoop.stop();
      await closeDatabase(database);
      await metrics.close();
    },
  };
});
