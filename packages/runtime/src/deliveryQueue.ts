import { setTimeout as delay } from 'node:timers/promises';
import type { DeduplicationOptions, KeepJobs } from 'bullmq';
import { openQueues, type JobData, type QueueName, type Queues, type QueuesOptions } from './queues.js';

/** How long finished jobs stay on the queue board, in seconds, and the maximum number of them. */
const KEPT_COMPLETED: KeepJobs = { age: 3_600, count: 1_000 };
const KEPT_FAILED: KeepJobs = { age: 7 * 86_400, count: 5_000 };

/**
 * The minimum interval between two jobs for stored provider reports. Each job applies many reports. The first report after the interval
 * does not wait.
 */
export const REPORTS_PAUSE_MS = 300;

/**
 * Enqueues jobs that wake workers for sends and receipts. If Redis is unavailable, the missing job delays a send by a few seconds, and no
 * send is lost.
 */
export interface DeliveryQueue extends Queues {
  /** Enqueues a job for a send, unless one is waiting or active. @returns whether Redis accepted the job; false is not an error */
  enqueue(queue: 'deliver' | 'simulate', sendId: string): Promise<boolean>;
  /** Enqueues a job for the stored reports. Calls within `REPORTS_PAUSE_MS` of the last job share the next one. */
  enqueueReports(): Promise<boolean>;
}

/** Opens the delivery queue. It connects in the background, so this succeeds while Redis is unavailable. */
export function openDeliveryQueue(options: QueuesOptions): DeliveryQueue {
  const queues = openQueues(options);
  let reportsJob: Promise<boolean> | null = null;
  let reportsEnqueuedAt = -Infinity;

  const add = async (
    name: QueueName,
    data: JobData,
    deduplication: DeduplicationOptions,
  ): Promise<boolean> => {
    if (!queues.isReady()) return false;
    const options = { removeOnComplete: KEPT_COMPLETED, removeOnFail: KEPT_FAILED, deduplication };
    return queues
      .of(name)
      .add(name, data, options)
      .then(
        () => true,
        () => false,
      );
  };

  return {
    ...queues,
    enqueue: (name, sendId) => add(name, { sendId }, { id: sendId }),
    enqueueReports() {
      const waitMs = reportsEnqueuedAt + REPORTS_PAUSE_MS - performance.now();
      reportsJob ??= delay(Math.max(0, waitMs)).then(() => {
        reportsJob = null;
        reportsEnqueuedAt = performance.now();
        // A job enqueued while another one is active runs after it, because the active job may have read too early.
        return add('receipts', {}, { id: 'receipts', keepLastIfActive: true });
      });
      return reportsJob;
    },
  };
}
