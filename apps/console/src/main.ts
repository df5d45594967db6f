import { createServer } from 'node:http';
import {
  createReadiness,
  gaugeConnections,
  openQueues,
  RELEASE,
  repeatedFaults,
  runProcess,
  SERVER_LIMITS,
} from '@onecode/runtime';
import { openDatabase, pingDatabase } from '@onecode/store/client';
import { createPresence } from '@onecode/store/operations';
import { createApp } from './app.js';
import { readConsoleConfig } from './config.js';

await runProcess('console', readConsoleConfig, async (config, log, registry) => {
  const database = openDatabase(config.DATABASE_URL, {
    connectionsMax: config.DATABASE_CONNECTIONS,
    pooler: config.DATABASE_POOLER,
    onConnectionError: repeatedFaults(log, 'warn', 'database connection lost'),
  });
  const presence = await createPresence(database, { kind: 'console', release: RELEASE });
  const queues = openQueues(config);
  gaugeConnections(registry, database.pool);
  const readiness = createReadiness(
    log,
    { database: () => pingDatabase(database) },
    { redis: () => queues.ping() },
  );

  return {
    readiness,
    presence,
    server: createServer(SERVER_LIMITS, createApp({ config, database, queues, log })),
  };
});
