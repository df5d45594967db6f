import { setTimeout as wait } from 'node:timers/promises';
import {
  createReadiness,
  gaugeConnections,
  RELEASE,
  repeatedFaults,
  runProcess,
  startLoop,
} from '@onecode/runtime';
import { openDatabase, pingDatabase } from '@onecode/store/client';
import { createPresence, createTrafficCounter, type LastRuns } from '@onecode/store/operations';
import { openDeliveries } from '@onecode/store/sends';
import { createCloudApi } from '@onecode/whatsapp/client';
import { readWorkerConfig } from './config.js';
import { startConsumers } from './consumers.js';
import { LEASE_MARGIN_MS, type WorkerContext } from './context.js';
import { createDueDeliveries } from './deliver.js';
import { startLoops } from './loops.js';
import { openMailer } from './mail/mailer.js';
import { recordDelivery, workerMetrics } from './metrics.js';
import { createSenderCache } from './senders.js';
import { openPoster } from './webhooks/poster.js';

/** How often traffic counts are written. A killed worker loses the counts since the last write. */
const TRAFFIC_FLUSH_MS = 2_000;
/** How long a stopping worker waits for its work. When the leases of the rest end, other workers take it over. */
const STOP_WAIT_MS_MAX = 6_000;

await runProcess('worker', readWorkerConfig, async (config, log, registry) => {
  const metrics = workerMetrics(registry);
  const traffic = createTrafficCounter();
  const database = openDatabase(config.DATABASE_URL, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    pooler: config.DATABASE_POOLER,
    byIndexOnly: true,
    onConnectionError: repeatedFaults(log, 'warn', 'database connection lost'),
    onDelivery: (before, after) => recordDelivery(traffic, metrics, before, after),
  });
  gaugeConnections(registry, database.pool);
  const lastRuns: LastRuns = {};
  const presence = await createPresence(database, { kind: 'worker', release: RELEASE, lastRuns });
  const policy = { attemptsMax: config.DELIVERY_ATTEMPTS, backoffMs: config.DELIVERY_BACKOFF_MS };
  const context: WorkerContext = {
    database,
    deliveries: openDeliveries(database, config.PROVIDER_TIMEOUT_MS + LEASE_MARGIN_MS),
    cloudApi: createCloudApi({
      baseUrl: config.WHATSAPP_API_URL,
      timeoutMs: config.PROVIDER_TIMEOUT_MS,
      proxy: { url: config.HTTPS_PROXY, except: config.NO_PROXY },
    }),
    openSender: createSenderCache(database, config.SECRET_KEY),
    secretKey: config.SECRET_KEY,
    policy,
    traffic,
    log,
    metrics,
  };
  const mail = { mailer: await openMailer(config), consoleUrl: config.CONSOLE_URL || null };
  const consumers = startConsumers(context, config);
  const dueDeliveries = createDueDeliveries(context, config.DELIVERY_CONCURRENCY);
  const readiness = createReadiness(log, {
    database: () => pingDatabase(database),
    redis: () => consumers.ping(),
  });
  const onFlushFault = repeatedFaults(log, 'warn', 'traffic recording failed');
  const trafficLoop = startLoop(() => traffic.flush(database), TRAFFIC_FLUSH_MS, onFlushFault);
  const loops = startLoops(context, dueDeliveries, lastRuns, mail, openPoster(config.EVENT_ADDRESSES));

  return {
    readiness,
    presence,
    async stop() {
      const ended = Promise.all([consumers.close(), loops.stop()]);
      await Promise.race([ended, wait(STOP_WAIT_MS_MAX)]);
      await trafficLoop.stop();
      await traffic.flush(database).catch(onFlushFault);
    },
  };
});
