import { Counter, Histogram, type Registry } from '@onecode/runtime';

export type ApiMetrics = ReturnType<typeof apiMetrics>;

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
