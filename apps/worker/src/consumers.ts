import { setTimeout as delay } from 'node:timers/promises';
import { UnrecoverableError, type Job, type Processor } from 'bullmq';
import {
  checkRedis,
  connectRedis,
  Consumer,
  keyPrefix,
  REPORTS_PAUSE_MS,
  type JobData,
  type JobResult,
  type QueueName,
  type RedisConnection,
} from '@onecode/runtime';
import type { WorkerConfig } from './config.js';
import type { WorkerContext } from './context.js';
import { applyReports } from './reports.js';
import { deliver, outcomeOf } from './sends/deliver.js';
import { simulate } from './sends/simulate.js';

/** Jobs of workers that died are found by a check after their lock. Their sends wait for neither: the delivery loop takes them. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 30_000;

/** An error that Redis and the queue board may keep: its kind and code. The original's message may quote parameters. */
function withoutText(error: unknown): Error {
  const { name, code } = error as { name?: unknown; code?: unknown };
  const kind = typeof name === 'string' ? name : 'Error';
  return new Error(typeof code === 'string' ? `${kind} ${code}` : kind);
}

export interface Consumers {
  isConnected(): boolean;
  isReady(): Promise<void>;
  /** Takes no more jobs and waits for those under way. */
  close(): Promise<void>;
}

/** Starts the consumers of all queues. They wait for Redis, and reconnect after any outage. */
export function startConsumers(context: WorkerContext, config: WorkerConfig): Consumers {
  const { log } = context;
  const prefix = keyPrefix(config.REDIS_URL, config.QUEUE_PREFIX);
  const source = { redisUrl: config.REDIS_URL, redisCa: config.REDIS_CA_FILE };
  const connection = connectRedis(source, 'consume', (error) =>
    log.debug({ err: error }, 'Redis is not reachable'),
  );
  const jobsUnderWay = new Set<Promise<unknown>>();

  const consume = (queue: QueueName, concurrency: number, work: Processor<JobData>): Consumer => {
    const process: Processor<JobData> = async (job, token) => {
      const round = work(job, token);
      jobsUnderWay.add(round);
      try {
        return await round;
      } catch (error) {
        if (error instanceof UnrecoverableError) throw error;
        log.error({ err: error, queue, send_id: job.data.sendId }, 'a job failed');
        throw withoutText(error);
      } finally {
        jobsUnderWay.delete(round);
      }
    };
    const worker = new Consumer(queue, process, {
      connection,
      prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
    });
    worker.on('error', (error) => log.debug({ err: error, queue }, 'the queue is not reachable'));
    return worker;
  };

  const workers = [
    consume('deliver', config.DELIVERY_CONCURRENCY, (job) => deliverJob(context, sendIdOf(job))),
    consume('simulate', config.DELIVERY_CONCURRENCY, async (job) => ({
      outcome: await simulate(context, sendIdOf(job)),
    })),
    // The job lasts as long as the pause: reports that arrive meanwhile wait for the next one, and are applied together.
    consume('receipts', 1, async () => {
      await Promise.all([applyReports(context), delay(REPORTS_PAUSE_MS)]);
    }),
  ];
  return {
    isConnected: () => connection.status === 'ready',
    isReady: () => checkRedis(connection, prefix),
    async close() {
      // While Redis is down, BullMQ's own stop would wait for it; then only the jobs under way have to end.
      const isDown = connection.status !== 'ready';
      const closed = Promise.all(workers.map((worker) => worker.close(isDown)));
      await Promise.race([closed, lost(connection)]);
      await Promise.allSettled(jobsUnderWay);
      connection.disconnect();
    },
  };
}

/** Resolves when the connection is lost, or at once if there is none. */
function lost(connection: RedisConnection): Promise<void> {
  return new Promise((resolve) => {
    if (connection.status === 'ready') connection.once('close', () => resolve());
    else resolve();
  });
}

/** Delivers a send. @throws UnrecoverableError so that the job fails, if the send failed in it by a fault that an operator can fix */
async function deliverJob(context: WorkerContext, sendId: string): Promise<JobResult> {
  const end = await deliver(context, sendId);
  const outcome = outcomeOf(end);
  if (outcome === 'attempts_exhausted' || (end.kind === 'failed' && end.isRequestFault === true))
    throw new UnrecoverableError(outcome);
  return { outcome };
}

function sendIdOf(job: Job<JobData>): string {
  if (job.data.sendId === undefined) throw new UnrecoverableError('the job names no send');
  return job.data.sendId;
}
