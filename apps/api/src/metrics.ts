import { Counter, Histogram, type Registry } from '@onecode/runtime';

export type ApiMetrics = ReturnType<typeof apiMetrics>;

export function apiMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Histogram({
      name: 'onecode_http_request_seconds',
      help: 'Time from the request to the end of its answer',
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
      help: 'Verify calls, by the state afterwards and whether the code was right',
      labelNames: ['verification', 'valid'],
      registers,
    }),
    webhookReceipts: new Counter({
      name: 'onecode_webhook_receipts_total',
      help: 'Receipts in webhooks, new ones and repeats',
      registers,
    }),
    refusedRequests: new Counter({
      name: 'onecode_refused_requests_total',
      help: 'Refused requests of known keys: kept, counted on one that is, or lost',
      labelNames: ['result'],
      registers,
    }),
  };
}
