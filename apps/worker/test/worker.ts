import { setMaxListeners } from 'node:events';
import { TEST_SECRET_KEY } from '@onecode/store/testing';
import { createLog, createRegistry, openDeliveryQueue, startLoop, type Registry } from '@onecode/runtime';
import { countAwaitingSends } from '@onecode/store';
import { createCloudApi } from '@onecode/whatsapp/client';
import { testRedisUrl } from '../../../test/harness/redisContents.js';
import { until } from '../../../test/harness/until.js';
import { readWorkerConfig } from '../src/config.js';
import { startConsumers } from '../src/consumers.js';
import type { WorkerContext } from '../src/context.js';
import { gaugeAwaitingSends, workerMetrics } from '../src/metrics.js';
import { createSenderPool } from '../src/senderPool.js';
import { sweep, wake } from '../src/sweeper.js';
import type { House } from './house.js';

/** The environment of a worker process in this house. */
export function workerEnvironment(
  house: Pick<House, 'db' | 'prefix' | 'tap'>,
  env: Record<string, string> = {},
): Record<string, string> {
  return {
    DATABASE_URL: house.db.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: house.prefix,
    SECRET_KEY: (TEST_SECRET_KEY.keys.get(1) as Buffer).toString('base64'),
    WHATSAPP_API_URL: `${house.tap.url}/v25.0`,
    METRICS_PORT: '0',
    DELIVERY_BACKOFF_MS: '20',
    PROVIDER_TIMEOUT_MS: '5000',
    ...env,
  };
}

export interface TestWorkerOptions {
  /** Variables that differ from `workerEnvironment`. */
  env?: Record<string, string>;
  leaseMs?: number;
  /** Null: only the sweeps that a test calls itself. */
  sweepPauseMs?: number | null;
  /** For tests in which the database refuses something; elsewhere a sweep that fails fails the test. */
  sweepMayFail?: true;
}

/** A worker inside the test's own process, put together as its `main` does. */
export interface TestWorker {
  context: WorkerContext;
  /** Clears the house for the next test, and what the worker remembers of its senders. */
  begin(): Promise<void>;
  sweep(): Promise<void>;
  /** The sum of a counter over the labels given. */
  count(metric: string, labels?: Record<string, string>): Promise<number>;
  stop(): Promise<void>;
}

const SWEEP_PAUSE_MS = 100;
const LEASE_MARGIN_MS = 5_000;

export async function startWorker(house: House, options: TestWorkerOptions = {}): Promise<TestWorker> {
  const config = readWorkerConfig(workerEnvironment(house, options.env));
  const log = createLog('worker', 'silent');
  const registry = createRegistry('worker');
  const metrics = workerMetrics(registry);
  const releaseClaim = new AbortController();
  setMaxListeners(0, releaseClaim.signal);
  const { database } = house.db;
  gaugeAwaitingSends(registry, () => countAwaitingSends(database));
  const context: WorkerContext = {
    database,
    deliveryQueue: openDeliveryQueue({
      redisUrl: config.REDIS_URL,
      prefix: config.QUEUE_PREFIX,
      deliveryAttempts: config.DELIVERY_ATTEMPTS,
      onError: () => {},
    }),
    cloudApi: createCloudApi({ baseUrl: config.WHATSAPP_API_URL, timeoutMs: config.PROVIDER_TIMEOUT_MS }),
    senders: createSenderPool(database, TEST_SECRET_KEY, log, metrics),
    secretKey: config.SECRET_KEY,
    policy: { attemptsMax: config.DELIVERY_ATTEMPTS, backoffMs: config.DELIVERY_BACKOFF_MS },
    leaseMs: options.leaseMs ?? config.PROVIDER_TIMEOUT_MS + LEASE_MARGIN_MS,
    releaseClaim: releaseClaim.signal,
    log,
    metrics,
  };
  const consumers = startConsumers(context, config);
  const pauseMs = options.sweepPauseMs === undefined ? SWEEP_PAUSE_MS : options.sweepPauseMs;
  const failures: unknown[] = [];
  const onError = (error: unknown): void => void failures.push(error);
  const loops =
    pauseMs === null ? [] : [sweep, wake].map((work) => startLoop(() => work(context), pauseMs, onError));
  if (config.REDIS_URL === testRedisUrl())
    await until('a delivery queue', () => context.deliveryQueue.isReady());

  return {
    context,
    async begin() {
      await house.clear();
      context.senders = createSenderPool(database, TEST_SECRET_KEY, log, metrics);
    },
    sweep: () => sweep(context),
    count: (metric, labels) => countOf(registry, metric, labels),
    async stop() {
      releaseClaim.abort();
      await Promise.all([consumers.close(), ...loops.map((loop) => loop.stop())]);
      await context.deliveryQueue.close();
      if (options.sweepMayFail === undefined) expect(failures).toEqual([]);
    },
  };
}

async function countOf(
  registry: Registry,
  metric: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const values = (await registry.getSingleMetric(metric)?.get())?.values ?? [];
  return values
    .filter((value) =>
      Object.entries(labels).every(
        ([name, wanted]) => (value.labels as Record<string, unknown>)[name] === wanted,
      ),
    )
    .reduce((sum, { value }) => sum + value, 0);
}
