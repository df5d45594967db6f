import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Keyring } from '@onecode/domain';
import { closeHttpServer, createLog, listen, openDeliveryQueue, Registry } from '@onecode/runtime';
import type { Database } from '@onecode/store';
import {
  createTestDatabase,
  TEST_PEPPER,
  TEST_SECRET_KEY,
  type TestCaller,
  type TestDatabase,
} from '@onecode/store/testing';
import { Redis } from 'ioredis';
import type { Test } from 'supertest';
import { until } from '../../../test/harness/until.js';
import { createApp } from '../src/app.js';
import { readApiConfig, type ApiConfig } from '../src/config.js';
import { createKeyUsageTracker, type KeyUsageTracker } from '../src/keyUsage.js';
import { apiMetrics } from '../src/metrics.js';
import { createHttpServer } from '../src/server.js';
import { validated } from './validated.js';

export const PHONE = '+5511987654321';
export const APP_SECRET = 'a secret of the provider’s app';
export const VERIFY_TOKEN = 'a token of the handshake';

type Headers = Record<string, string>;

/** The real application, listening on a port of its own, with a database and a queue prefix of its own. */
export interface TestApi {
  port: number;
  url: string;
  /** The base of the problem types in its answers. */
  docsUrl: string;
  store: TestDatabase;
  /** What gathers the uses of keys; nobody writes them but the test. */
  keyUsage: KeyUsageTracker;
  redis: Redis;
  /** What its keys in Redis begin with. */
  prefix: string;
  /** A supertest agent whose answers are all held against openapi.yaml. */
  request: ReturnType<typeof validated>;
  /** `POST /v1/send`; a text or bytes go out as they are. */
  create(caller: Pick<TestCaller, 'key'>, body?: object | string, headers?: Headers): Test;
  status(caller: Pick<TestCaller, 'key'>, id: string): Test;
  /** `POST /v1/send/{id}/verify`. */
  verify(caller: Pick<TestCaller, 'key'>, id: string, code: string): Test;
  close(): Promise<void>;
}

interface TestApiOptions {
  baseUrl?: string;
  /** Stands in for the test database, for what an outage does. */
  database?: Database;
}

export const bearer = ({ key }: Pick<TestCaller, 'key'>): Headers => ({ Authorization: `Bearer ${key}` });

const base64 = (keyring: Keyring): string => (keyring.keys.get(keyring.current) as Buffer).toString('base64');

/** An environment for the API that `readApiConfig` takes. */
export function apiEnvironment(databaseUrl: string): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl(),
    BASE_URL: 'https://codes.test',
    CODE_PEPPER: base64(TEST_PEPPER),
    SECRET_KEY: base64(TEST_SECRET_KEY),
    WHATSAPP_APP_SECRET: APP_SECRET,
    WHATSAPP_VERIFY_TOKEN: VERIFY_TOKEN,
    QUEUE_PREFIX: `onecode-test-${randomUUID()}`,
    PORT: '0',
    METRICS_PORT: '0',
    LOG_LEVEL: 'silent',
  };
}

export async function startApi(options: TestApiOptions = {}): Promise<TestApi> {
  const store = await createTestDatabase();
  const environment = apiEnvironment(store.url);
  const config: ApiConfig = readApiConfig({
    ...environment,
    ...(options.baseUrl && { BASE_URL: options.baseUrl }),
  });
  const prefix = config.QUEUE_PREFIX;
  const deliveryQueue = openDeliveryQueue({
    redisUrl: config.REDIS_URL,
    prefix,
    deliveryAttempts: 5,
    onError: () => {},
  });
  const redis = new Redis(config.REDIS_URL);
  const keyUsage = createKeyUsageTracker(store.database);
  const app = createApp({
    config,
    database: options.database ?? store.database,
    keyUsage,
    deliveryQueue,
    log: createLog('api', config.LOG_LEVEL),
    metrics: apiMetrics(new Registry()),
  });
  const server = createHttpServer(app, config);
  await listen(server, 0);
  await until('a delivery queue that is ready', () => deliveryQueue.isReady());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const request = validated(url);

  return {
    port,
    url,
    docsUrl: config.DOCS_URL,
    keyUsage,
    store,
    redis,
    prefix,
    request,
    create: (caller, body = { to: PHONE }, headers = {}) =>
      request
        .post('/v1/send')
        .set({ ...bearer(caller), 'Content-Type': 'application/json', ...headers })
        .send(body),
    status: (caller, id) => request.get(`/v1/send/${id}/status`).set(bearer(caller)),
    verify: (caller, id, code) => request.post(`/v1/send/${id}/verify`).set(bearer(caller)).send({ code }),
    async close() {
      server.closeIdleConnections();
      await closeHttpServer(server);
      await deliveryQueue.close();
      const keys = await redis.keys(`${prefix}:*`);
      if (keys.length > 0) await redis.unlink(keys);
      redis.disconnect();
      await store.drop();
    },
  };
}

function redisUrl(): string {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) throw new Error('TEST_REDIS_URL is missing: run the tests with npm test');
  return url;
}
