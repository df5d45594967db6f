import { healthFindings } from '@onecode/domain';
import {
  createReadiness,
  gaugeConnections,
  openQueues,
  RELEASE,
  repeatedFaults,
  runProcess,
  startLoop,
} from '@onecode/runtime';
import { openDatabase, pingDatabase } from '@onecode/store/client';
import {
  createPresence,
  createHealthReader,
  createTrafficCounter,
  recordIncidents,
} from '@onecode/store/operations';
import { createRefusedRequestCounter } from '@onecode/store/reports';
import { createApp } from './app.js';
import { createAuthenticator } from './auth.js';
import { readApiConfig } from './config.js';
import { apiMetrics } from './context.js';
import { healthMetrics, showHealth } from './health.js';
import { createHttpServer } from './server.js';

/** On a silent connection, a statement fails after 2.5 seconds. A read is then repeated once on a new connection. */
const DATABASE_TIMEOUTS = { connectionMs: 3_000, statementMs: 2_000 };
/** How often counts, refused requests and uses of keys are written. They are lost if the process is killed first, or if the write fails. */
const FLUSH_MS = 2_000;
/** The pause between readings of the service's health, which update its metrics and incidents. A reading takes two seconds at most. */
const HEALTH_PAUSE_MS = 15_000;

await runProcess('api', readApiConfig, async (config, log, registry) => {
  const database = openDatabase(config.DATABASE_URL, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    pooler: config.DATABASE_POOLER,
    byIndexOnly: true,
    timeouts: DATABASE_TIMEOUTS,
    onConnectionError: repeatedFaults(log, 'warn', 'database connection lost'),
  });
  const presence = await createPresence(database, { kind: 'api', release: RELEASE });
  const deliveryQueue = openQueues(config);
  const { authenticate, flushKeyUsage } = createAuthenticator(database);
  const metrics = apiMetrics(registry);
  const refusedRequests = createRefusedRequestCounter();
  const traffic = createTrafficCounter();
  const flush = async (): Promise<void> => {
    await Promise.all([flushKeyUsage(), refusedRequests.flush(database), traffic.flush(database)]);
  };
  const onFlushFault = repeatedFaults(log, 'warn', 'usage recording failed');
  const flushLoop = startLoop(flush, FLUSH_MS, onFlushFault);
  gaugeConnections(registry, database.pool);
  const readHealth = createHealthReader(database, () => deliveryQueue.readHealth());
  const serviceMetrics = healthMetrics(registry);
  startLoop(
    async () => {
      const health = await readHealth();
      const findings = healthFindings(health);
      showHealth(serviceMetrics, health, findings);
      await recordIncidents(database, findings);
    },
    HEALTH_PAUSE_MS,
    repeatedFaults(log, 'warn', 'incident recording failed'),
  );
  // Ready when PostgreSQL responds, with or without Redis.
  const readiness = createReadiness(
    log,
    { database: () => pingDatabase(database) },
    { redis: () => deliveryQueue.ping() },
  );
  const app = createApp({
    config,
    database,
    deliveryQueue,
    log,
    metrics,
    authenticate,
    refusedRequests,
    traffic,
    readiness,
  });

  return {
    readiness,
    presence,
    server: createHttpServer(app, config),
    async stop() {
      await flushLoop.stop();
      await flush().catch(onFlushFault);
    },
  };
});
