import { Counter, Histogram, type Registry } from '@onecode/runtime';

/** Seconds of a send's way; the middle of them is what we promise. */
const WAY_BUCKETS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

export function workerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    attempts: new Histogram({
      name: 'onecode_attempt_seconds',
      help: 'Time of one call to the provider, by outcome',
      labelNames: ['outcome'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers,
    }),
    acceptance: new Histogram({
      name: 'onecode_acceptance_seconds',
      help: 'Time from the request to the acceptance by the provider, of live sends',
      buckets: WAY_BUCKETS,
      registers,
    }),
    delivery: new Histogram({
      name: 'onecode_delivery_seconds',
      help: 'Time from the request to the phone, of live sends that reached it',
      buckets: WAY_BUCKETS,
      registers,
    }),
    // Raised once for each block of a sender or country: alert on its increase.
    configurationFaults: new Counter({
      name: 'onecode_configuration_faults_total',
      help: 'Faults at the provider that an operator has to fix',
      labelNames: ['scope', 'error_code'],
      registers,
    }),
    coolDowns: new Counter({
      name: 'onecode_sender_pauses_total',
      help: 'Cool-downs of senders after failures of their own',
      labelNames: ['error_code'],
      registers,
    }),
    throttles: new Counter({
      name: 'onecode_throttles_total',
      help: 'Limits of a sender, business account or app that Meta reported, by scope and error code',
      labelNames: ['scope', 'error_code'],
      registers,
    }),
    deliveries: new Counter({
      name: 'onecode_deliveries_total',
      help: 'Rounds of delivery, by how they ended',
      labelNames: ['end'],
      registers,
    }),
    receipts: new Counter({
      name: 'onecode_receipts_applied_total',
      help: 'Stored receipts that were handled, by result',
      labelNames: ['result'],
      registers,
    }),
    denials: new Counter({
      name: 'onecode_denials_total',
      help: 'Messages whose recipients say that they did not request a code',
      labelNames: ['application_id', 'country'],
      registers,
    }),
    identityChanges: new Counter({
      name: 'onecode_identity_changes_total',
      help: 'Codes that reached a number that has changed hands since its owner last verified one',
      labelNames: ['application_id'],
      registers,
    }),
    dueDeliveries: new Counter({
      name: 'onecode_due_deliveries_total',
      help: 'Sends that were taken without a job: tried again, waiting for a sender before, or without one from Redis',
      registers,
    }),
    breakerTrips: new Counter({
      name: 'onecode_breaker_trips_total',
      help: 'Accounts blocked in a country because too few of their codes were verified',
      labelNames: ['country'],
      registers,
    }),
  };
}
