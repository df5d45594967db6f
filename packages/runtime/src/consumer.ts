import { isNotConnectionError, Worker, type Processor, type WorkerOptions } from 'bullmq';
import type { QueueName, JobData } from './queues.js';
import { BLOCK_SECONDS_MAX } from './redis/connect.js';

const RETRY_MS = 1_000;

/**
 * A BullMQ worker on one queue. Unlike BullMQ's own, it continues within a second after a connection error, and pauses after a refusal, for
 * example by a replica or by a Redis that is out of memory. Jobs of a worker that died run again after a minute at most; their sends do not
 * wait for that, because the delivery loop takes them.
 */
export class Consumer extends Worker<JobData> {
  constructor(queue: QueueName, process: Processor<JobData>, options: WorkerOptions) {
    super(queue, process, { drainDelay: BLOCK_SECONDS_MAX, runRetryDelay: RETRY_MS, ...options });
  }

  /** Also the pause after a refused wait for a job, for which BullMQ gives no time. */
  override delay(...[milliseconds = RETRY_MS, abort]: Parameters<Worker['delay']>): Promise<void> {
    return super.delay(milliseconds, abort);
  }

  protected override async moveToActive(
    token: string,
    name?: string,
  ): ReturnType<Worker<JobData>['moveToActive']> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      if (isNotConnectionError(error as Error)) await this.delay();
      throw error;
    }
  }
}
