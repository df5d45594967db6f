import type { DeliveryQueue, Logger, Readiness } from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { TrafficCounter } from '@onecode/store/operations';
import type { Authenticate } from './auth.js';
import type { ApiConfig } from './config.js';
import type { KeyUsageTracker } from './keyUsage.js';
import type { ApiMetrics } from './metrics.js';
import type { RefusedRequestRecorder } from './refusedRequests.js';

export interface ApiDependencies {
  config: ApiConfig;
  database: Database;
  deliveryQueue: DeliveryQueue;
  log: Logger;
  metrics: ApiMetrics;
  keyUsage: KeyUsageTracker;
  refusedRequests: RefusedRequestRecorder;
  traffic: TrafficCounter;
  readiness: Readiness;
}

export interface ApiContext extends ApiDependencies {
  authenticate: Authenticate;
}
