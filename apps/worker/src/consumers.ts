import type { Processor } from 'bullmq';
import {
  checkRedis,
  connectRedis,
  Consumer,
  keyPrefix,
  type JobData,
  type QueueName,
} from '@onecode/runtime';
import type { WorkerConfig } from './config.js';
import type { WorkerContext } from './context.js';
import { applyDueReports } from './reports.js';
import { deliver } from './deliver.js';

/** Returns an error that is safe to store in Redis: only the kind and code, because the message may quote parameters. */
function removeErrorText(error: unknown): Error {
  const { name, code } = error as { name?: unknown; code?: unknown };
  const kind = typeof name === 'string' ? name : 'Error';
  return new Error(typeof code === 'string' ? `${kind} ${code}` : kind);
}

/** Starts the consumers of all queues. They connect in the background and reconnect after any outage. */
export function startConsumers(context: WorkerContext, config: WorkerConfig) {
  const { log } = context;
  const prefix = keyPrefix(config);
  const connection = connectRedis(config, 'consume');

  const consume = (queue: QueueName, concurrency: number, work: Processor<JobData>): Consumer => {
    const process: Processor<JobData> = async (job, token) => {
      try {
        return await work(job, token);
      } catch (error) {
        log.error({ err: error, queue, send_id: job.data.sendId }, 'job failed');
        throw removeErrorText(error);
      }
    };
    const worker = new Consumer(queue, process, { connection, prefix, concurrency });
    worker.on('error', (error) => log.debug({ err: error, queue }, 'queue error'));
    return worker;
  };

  const deliverJob: Processor<JobData> = async (job) => ({
    outcome: await deliver(context, job.data.sendId as string),
  });
  const workers = [
    consume('deliver', config.DELIVERY_CONCURRENCY, deliverJob),
    // Test sends have their own queue, because the jobs of `deliver` wait while the provider does not respond.
    consume('simulate', config.DELIVERY_CONCURRENCY, deliverJob),
    consume('receipts', 1, () => applyDueReports(context)),
  ];
  return {
    /** @throws unless Redis can be used */
    ping: () => checkRedis(connection, prefix),
    /** Stops taking jobs, and waits for the jobs in progress and for Redis. */
    async close(): Promise<void> {
      await Promise.all(workers.map((worker) => worker.close()));
      connection.disconnect();
    },
  };
}
