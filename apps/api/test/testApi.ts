import type { AddressInfo } from 'node:net';
import type { Keyring } from '@onecode/domain';
import { closeHttpServer, createLog, createReadiness, listen, openQueues, Registry } from '@onecode/runtime';
import { pingDatabase, type Database } from '@onecode/store/client';
import { createTrafficCounter } from '@onecode/store/operations';
import { createRefusedRequestCounter, type RefusedRequestCounter } from '@onecode/store/reports';
import {
  openForFile,
  openTestEnvironment,
  TEST_PEPPER,
  TEST_SECRET_KEY,
  untilQueueReady,
  type TestEnvironment,
} from '@onecode/testing';
import { contractCalls, type ContractCalls } from '@onecode/testing/contract-tests';
import { createApp } from '../src/app.js';
import { createAuthenticator, type Authenticator } from '../src/auth.js';
import { readApiConfig, type ApiConfig } from '../src/config.js';
import { apiMetrics } from '../src/context.js';
import { createHttpServer } from '../src/server.js';

export { bearer, PHONE } from '@onecode/testing/contract-tests';

export const APP_SECRET = 'a secret of the provider’s app';
export const VERIFY_TOKEN = 'a token of the handshake';

/** The real application, listening on a free port, in its own test environment. */
export interface TestApi
  extends
    ContractCalls,
    Pick<TestEnvironment, 'db' | 'redis' | 'prefix' | 'variables'>,
    Pick<Authenticator, 'flushKeyUsage'> {
  port: number;
  url: string;
  /** The base of the problem types in its responses. */
  docsUrl: string;
  /** Counts refused requests. Only the test writes them to the database. */
  refusedRequests: RefusedRequestCounter;
  close(): Promise<void>;
}

interface TestApiOptions {
  baseUrl?: string;
  /** Replaces the test database, for tests of outages. */
  database?: Database;
}

const base64 = ({ keys, current }: Keyring): string => (keys.get(current) as Buffer).toString('base64');

/** Returns the variables of an API process in this environment. */
export function apiVariables({ variables }: Pick<TestEnvironment, 'variables'>): Record<string, string> {
  return {
    ...variables,
    BASE_URL: 'https://codes.test',
    CODE_PEPPER: base64(TEST_PEPPER),
    SECRET_KEY: base64(TEST_SECRET_KEY),
    WHATSAPP_APP_SECRET: APP_SECRET,
    WHATSAPP_VERIFY_TOKEN: VERIFY_TOKEN,
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
  };
}

export async function startApi(options: TestApiOptions = {}): Promise<TestApi> {
  const environment = await openTestEnvironment();
  const { db, redis, prefix } = environment;
  const config: ApiConfig = readApiConfig({
    ...apiVariables(environment),
    ...(options.baseUrl && { BASE_URL: options.baseUrl }),
  });
  const deliveryQueue = openQueues({ ...config, QUEUE_PREFIX: prefix });
  const database = options.database ?? db.database;
  const { authenticate, flushKeyUsage } = createAuthenticator(database);
  const refusedRequests = createRefusedRequestCounter();
  const log = createLog('api', config.LOG_LEVEL);
  const readiness = createReadiness(log, { database: () => pingDatabase(database) });
  const app = createApp({
    config,
    database,
    authenticate,
    refusedRequests,
    readiness,
    deliveryQueue,
    log,
    metrics: apiMetrics(new Registry()),
    traffic: createTrafficCounter(),
  });
  const server = createHttpServer(app, config);
  await listen(server, 0, '127.0.0.1');
  await untilQueueReady(deliveryQueue);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;

  return {
    port,
    url,
    docsUrl: config.DOCS_URL,
    flushKeyUsage,
    refusedRequests,
    db,
    redis,
    prefix,
    variables: environment.variables,
    ...contractCalls(port),
    async close() {
      readiness.drain();
      server.closeIdleConnections();
      await closeHttpServer(server);
      await deliveryQueue.close();
      await environment.close();
    },
  };
}

/** Starts one API for all tests of a file. Use it inside hooks and tests only. */
export function useApi(): TestApi {
  return openForFile(startApi, (api) => api.close());
}
