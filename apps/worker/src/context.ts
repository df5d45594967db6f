import type { Keyring, RetryPolicy } from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { TrafficCounter } from '@onecode/store/operations';
import type { Deliveries } from '@onecode/store/sends';
import type { CloudApi } from '@onecode/whatsapp/client';
import type { Identities } from './sends/identities.js';
import type { WorkerMetrics } from './metrics.js';
import type { SenderPool } from './senders/senderPool.js';

/** How much longer than the provider's time limit a lease lasts: enough to write the outcome. */
export const LEASE_MARGIN_MS = 5_000;

export interface WorkerContext {
  database: Database;
  deliveries: Deliveries;
  cloudApi: CloudApi;
  senders: SenderPool;
  identities: Identities;
  secretKey: Keyring;
  policy: RetryPolicy;
  /** How long a claim lasts from the time of its permit: longer than a call to the provider can take. */
  leaseMs: number;
  /** Aborted when the worker's stop can wait no longer: claims are released, and answers not waited for. */
  releaseClaims: AbortSignal;
  traffic: TrafficCounter;
  log: Logger;
  metrics: WorkerMetrics;
}

/**
 * Returns the answer, or null after the abort: another worker does the work when the lease ends. (`Promise.race` with a signal that lives as
 * long as the process would keep every answer in memory.)
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
