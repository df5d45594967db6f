import type { Keyring, RetryPolicy } from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { TrafficCounter } from '@onecode/store/operations';
import type { SenderDetails } from '@onecode/store/senders';
import type { Deliveries } from '@onecode/store/sends';
import type { CloudApi } from '@onecode/whatsapp/client';
import type { WorkerMetrics } from './metrics.js';

/** The lease is the time limit of a call plus this margin, in which the call must start and its outcome be written. */
export const LEASE_MARGIN_MS = 5_000;

/** A run of a loop ends after this time and leaves a backlog to the next run: the health page sees a run only when it has ended. */
export const RUN_MS_MAX = 2_000;

export interface WorkerContext {
  database: Database;
  deliveries: Deliveries;
  cloudApi: CloudApi;
  /** Returns a sender with its token and blocks, which may be a second old. @throws Error if it does not exist */
  openSender: (senderId: string) => Promise<SenderDetails>;
  secretKey: Keyring;
  policy: RetryPolicy;
  /** Aborted when a stopping worker has waited long enough. Calls without a response then end with an unknown outcome. */
  stopTimeout: AbortSignal;
  traffic: TrafficCounter;
  log: Logger;
  metrics: WorkerMetrics;
}

/**
 * Returns the answer, or null after an abort: a delivery then records an unknown outcome, and other work is done again when it is due.
 * `Promise.race` with a signal that exists until the process ends would keep every answer in memory.
 */
export function waitUnlessAborted<Answer>(
  answer: Promise<Answer>,
  signal: AbortSignal,
): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(null);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort);
    answer.finally(() => signal.removeEventListener('abort', onAbort)).then(resolve, reject);
  });
}
