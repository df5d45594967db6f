import type { Keyring, RetryPolicy } from '@onecode/domain';
import type { DeliveryQueue, Logger } from '@onecode/runtime';
import type { Database } from '@onecode/store';
import type { CloudApi } from '@onecode/whatsapp/client';
import type { WorkerMetrics } from './metrics.js';
import type { SenderPool } from './senderPool.js';

/** What a claim lasts beyond the provider's time limit: enough to write the outcome. */
export const LEASE_MARGIN_MS = 5_000;

/** What the worker's duties work with. */
export interface WorkerContext {
  database: Database;
  deliveryQueue: DeliveryQueue;
  cloudApi: CloudApi;
  senders: SenderPool;
  secretKey: Keyring;
  policy: RetryPolicy;
  /** How long a claim lasts: longer than a call to the provider can take. */
  leaseMs: number;
  /** Aborted when a stop can wait no longer for the provider's answers. */
  releaseClaim: AbortSignal;
  log: Logger;
  metrics: WorkerMetrics;
}
