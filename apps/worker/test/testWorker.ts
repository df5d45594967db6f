import { createLog, createRegistry, startLoop, type Registry } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import { createTrafficCounter } from '@onecode/store/operations';
import { openDeliveries } from '@onecode/store/sends';
import {
  buildSender,
  endBlocks,
  TEST_SECRET_KEY,
  testRedisUrl,
  until,
  type AnswerInstead,
  type TestCaller,
} from '@onecode/testing';
import { createCloudApi } from '@onecode/whatsapp/client';
import { readWorkerConfig } from '../src/config.js';
import { startConsumers } from '../src/consumers.js';
import type { WorkerContext } from '../src/context.js';
import { createDueDeliveries } from '../src/deliver.js';
import { recordDelivery, workerMetrics } from '../src/metrics.js';
import { createSenderCache } from '../src/senders.js';
import { applyDueReports } from '../src/reports.js';
import { WorkerEnvironment } from './workerEnvironment.js';

/** Returns the variables of a worker process in this environment. */
export function workerVariables(
  { variables, tap }: Pick<WorkerEnvironment, 'variables' | 'tap'>,
  env: Record<string, string> = {},
): Record<string, string> {
  return {
    ...variables,
    SECRET_KEY: (TEST_SECRET_KEY.keys.get(1) as Buffer).toString('base64'),
    WHATSAPP_API_URL: `${tap.url}/v25.0`,
    METRICS_PORT: '0',
    DELIVERY_BACKOFF_MS: '20',
    PROVIDER_TIMEOUT_MS: '5000',
    ...env,
  };
}

export interface TestWorkerOptions {
  /** Variables that differ from `workerVariables`. */
  env?: Record<string, string>;
  leaseMs?: number;
  /** Null if only the test runs sweeps. */
  sweepPauseMs?: number | null;
}

/** A worker inside the test's process, assembled as in `main.ts`. */
export interface TestWorker {
  context: WorkerContext;
  /** Resets the environment and the worker's sender cache for the next test. */
  reset(): Promise<void>;
  sweep(): Promise<void>;
  /** Ends the times of all blocks. The worker reads them again at once, as it does when a second has passed. */
  endBlocks(): Promise<void>;
  /** Returns the sum of a counter over all series with these labels. */
  count(metric: string, labels?: Record<string, string>): Promise<number>;
  stop(): Promise<void>;
}

const SWEEP_PAUSE_MS = 100;
const LEASE_MARGIN_MS = 5_000;

export async function startWorker(
  environment: WorkerEnvironment,
  options: TestWorkerOptions = {},
): Promise<TestWorker> {
  const config = readWorkerConfig(workerVariables(environment, options.env));
  const log = createLog('worker', 'silent');
  const registry = createRegistry('worker');
  const metrics = workerMetrics(registry);
  const traffic = createTrafficCounter();
  const database: Database = {
    ...environment.db.database,
    onDelivery: (before, after) => recordDelivery(traffic, metrics, before, after),
  };
  const policy = { attemptsMax: config.DELIVERY_ATTEMPTS, backoffMs: config.DELIVERY_BACKOFF_MS };
  const leaseMs = options.leaseMs ?? config.PROVIDER_TIMEOUT_MS + LEASE_MARGIN_MS;
  const context: WorkerContext = {
    database,
    deliveries: openDeliveries(database, leaseMs),
    cloudApi: createCloudApi({ baseUrl: config.WHATSAPP_API_URL, timeoutMs: config.PROVIDER_TIMEOUT_MS }),
    openSender: createSenderCache(database, TEST_SECRET_KEY),
    secretKey: config.SECRET_KEY,
    policy,
    traffic,
    log,
    metrics,
  };
  const consumers = startConsumers(context, config);
  const pauseMs = options.sweepPauseMs === undefined ? SWEEP_PAUSE_MS : options.sweepPauseMs;
  const failures: unknown[] = [];
  const onError = (error: unknown): void => {
    if (process.env['SHOW']) console.error(error);
    failures.push(error);
  };
  const due = createDueDeliveries(context, config.DELIVERY_CONCURRENCY);
  let applied = Promise.resolve();
  const applyReports = (): Promise<void> => (applied = applyDueReports(context));
  const loops =
    pauseMs === null ? [] : [applyReports, due.run].map((run) => startLoop(run, pauseMs, onError));
  if (config.REDIS_URL === testRedisUrl())
    await until('a connection to Redis', () =>
      consumers.ping().then(
        () => true,
        () => false,
      ),
    );

  return {
    context,
    async reset() {
      await environment.endSends();
      // Deliveries and reports in progress could still block a sender in the next test. A report stays stored if its write met the end of
      // its send.
      await due.ended();
      await until('no active job', environment.isIdle);
      await applied;
      await applyReports();
      await environment.reset();
      context.openSender = createSenderCache(database, TEST_SECRET_KEY);
    },
    async sweep() {
      await applyReports();
      do await due.run();
      while (due.hasMore());
      await due.ended();
    },
    async endBlocks() {
      await endBlocks(database);
      context.openSender = createSenderCache(database, TEST_SECRET_KEY);
    },
    count: (metric, labels) => countOf(registry, metric, labels),
    async stop() {
      await Promise.all([consumers.close(), ...loops.map((loop) => loop.stop())]);
      await due.ended();
      expect(failures).toEqual([]);
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

export interface UseWorkerOptions extends TestWorkerOptions {
  /** The number of senders at the start of every test; one by default. */
  senders?: number;
  /** Returns the tap's responses in place of the provider's. */
  answerInstead?: AnswerInstead;
}

/** A worker and its environment. Read its members inside hooks and tests only. */
export interface UsedWorker extends Omit<WorkerEnvironment, 'reset' | 'close' | 'variables'>, TestWorker {
  environment: WorkerEnvironment;
  database: Database;
  sql: WorkerEnvironment['db']['sql'];
  /** A live caller, new for every test. */
  caller: TestCaller;
}

/** Starts one environment with one worker for all tests of the surrounding file or `describe`. It is reset before each test. */
export function useWorker({ senders = 1, answerInstead, ...options }: UseWorkerOptions = {}): UsedWorker {
  const used = {} as UsedWorker;
  let end: () => Promise<void>;
  beforeAll(async () => {
    const environment = await WorkerEnvironment.open(answerInstead);
    const worker = await startWorker(environment, options);
    const { db } = environment;
    const shortcuts: Partial<UsedWorker> = {
      environment,
      database: db.database,
      sql: (text, values) => db.sql(text, values),
    };
    Object.assign(used, environment, worker, shortcuts);
    end = async () => {
      await worker.stop();
      await environment.close();
    };
  });
  beforeEach(async () => {
    await used.reset();
    for (let nth = 0; nth < senders; nth++) await buildSender(used.database);
    used.caller = await used.newCaller();
  });
  afterAll(() => end());
  return used;
}
