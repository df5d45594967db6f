import type { Logger, Queues, Readiness } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { TrafficCounter } from '@onecode/store/operations';
import type { Authenticator } from './auth.js';
import type { ApiConfig } from './config.js';
import type { ApiMetrics } from './metrics.js';
import type { RefusedRequestRecorder } from './refusedRequests.js';

/** The resources of the process, which its routes share. */
export interface ApiContext extends Pick<Authenticator, 'authenticate'> {
  config: ApiConfig;
  database: Database;
  deliveryQueue: Queues;
  log: Logger;
  metrics: ApiMetrics;
  refusedRequests: RefusedRequestRecorder;
  traffic: TrafficCounter;
  readiness: Readiness;
}
