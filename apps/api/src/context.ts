import {
  Counter,
  Histogram,
  type Logger,
  type Queues,
  type Readiness,
  type Registry,
} from '@onecode/runtime';
import type { Database } from '@onecode/store/client';
import type { TrafficCounter } from '@onecode/store/operations';
import type { RefusedRequestCounter } from '@onecode/store/reports';
import type { Authenticator } from './auth.js';
import type { ApiConfig } from './config.js';

/** The resources of the process, which its routes share. */
export interface ApiContext extends Pick<Authenticator, 'authenticate'> {
  config: ApiConfig;
  database: Database;
  deliveryQueue: Queues;
  log: Logger;
  metrics: ReturnType<typeof apiMetrics>;
  refusedRequests: RefusedRequestCounter;
  traffic: TrafficCounter;
  readiness: Readiness;
}

/** Registers the metrics of the requests to this process. */
export function apiMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Histogram({
      name: 'onecode_http_request_seconds',
      help: 'Time from the start of a request to the end of its response',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    creations: new Counter({
      name: 'onecode_creations_total',
      help: 'Requests to create a send, by outcome',
      labelNames: ['mode', 'outcome'],
      registers,
    }),
    verifications: new Counter({
      name: 'onecode_verifications_total',
      help: 'Verify requests, by the resulting verification state and whether the code was correct',
      labelNames: ['verification', 'valid'],
      registers,
    }),
  };
}
