import {
  closeHttpServer,
  createLog,
  createRegistry,
  listen,
  logRedisFault,
  openDeliveryQueue,
  runProcess,
  serveMetrics,
  VERSION,
} from '@onecode/runtime';
import { closeDatabase, openDatabase, refuseUnusableDatabase } from '@onecode/store';
import { createApp, readinessChecks } from './app.js';
import { readApiConfig } from './config.js';
import { createKeyUsageTracker, startKeyUsageLoop } from './keyUsage.js';
import { apiMetrics } from './metrics.js';
import { createHttpServer } from './server.js';

/** Of its connections, how many are for look-ups alone. */
const READ_SHARE = 0.4;

await runProcess('api', async () => {
  const config = readApiConfig(process.env);
  const log = createLog('api', config.LOG_LEVEL);
  log.info({ version: VERSION }, 'starting');
  const registry = createRegistry('api');
  const readConnectionsMax = Math.max(1, Math.round(READ_SHARE * config.DATABASE_CONNECTIONS));
  const database = openDatabase(config.DATABASE_URL, {
    connectionsMax: config.DATABASE_CONNECTIONS - readConnectionsMax,
    readConnectionsMax,
    pooler: config.DATABASE_POOLER,
    byIndexOnly: true,
    onConnectionError: (error) => log.warn({ err: error }, 'a database connection broke'),
    onMissingSettings: (settings) => log.warn({ settings }, 'the pooler’s sessions lack settings'),
  });
  await refuseUnusableDatabase(database);
  const deliveryQueue = openDeliveryQueue({
    redisUrl: config.REDIS_URL,
    redisCa: config.REDIS_CA_FILE,
    prefix: config.QUEUE_PREFIX,
    deliveryAttempts: config.DELIVERY_ATTEMPTS,
    onError: (error) => log.debug({ err: error }, 'Redis is not reachable'),
    onFault: logRedisFault(log),
  });
  const keyUsage = createKeyUsageTracker(database);
  const keyUsageLoop = startKeyUsageLoop(keyUsage, log);
  const app = createApp({ config, database, deliveryQueue, log, metrics: apiMetrics(registry), keyUsage });
  const server = createHttpServer(app, config);
  await listen(server, config.PORT);
  const metrics = await serveMetrics(registry, config, readinessChecks(database));
  log.info({ address: server.address(), metrics_port: metrics.port }, 'ready');

  return {
    log,
    async stop() {
      metrics.draining();
      await closeHttpServer(server);
      await deliveryQueue.close();
      await keyUsageLoop.stop();
      await closeDatabase(database);
      await metrics.close();
    },
  };
});
