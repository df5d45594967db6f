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

/** The time limit of a run of `sweep`, and of the wait for room in `deliver`: the health page sees a run only when it has ended. */
export const RUN_MS_MAX = 2_000;

export interface WorkerContext {
  database: Database;
  deliveries: Deliveries;
  cloudApi: CloudApi;
  /** Returns a sender with its token and blocks, which may be a second old. @throws Error if it does not exist */
  openSender: (senderId: string) => Promise<SenderDetails>;
  secretKey: Keyring;
  policy: RetryPolicy;
  traffic: TrafficCounter;
  log: Logger;
  metrics: WorkerMetrics;
}
