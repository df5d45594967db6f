import { isNotConnectionError, Worker, type Processor, type WorkerOptions } from 'bullmq';
import type { QueueName, JobData } from './queues.js';
import { BLOCK_SECONDS_MAX } from './redis/connect.js';

const RETRY_MS = 1_000;

/**
 * A BullMQ worker on one queue that recovers within seconds of the end of any outage. By default, BullMQ blocks for up to ten seconds on a
 * connection that may be dead, and waits fifteen seconds after a connection error. After a refusal, for example by a replica or by a Redis
 * that is out of memory, it retries without a pause.
 */
export class Consumer extends Worker<JobData> {
  constructor(queue: QueueName, process: Processor<JobData>, options: WorkerOptions) {
    super(queue, process, { drainDelay: BLOCK_SECONDS_MAX, runRetryDelay: RETRY_MS, ...options });
  }

  override get maximumBlockTimeout(): number {
    return BLOCK_SECONDS_MAX;
  }

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
