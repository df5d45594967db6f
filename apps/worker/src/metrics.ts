import { hasArrived, trafficEvents, type Send } from '@onecode/domain';
import { Counter, Histogram, type Registry } from '@onecode/runtime';
import type { TrafficCounter } from '@onecode/store/operations';

/** Seconds from the request to a stage of the send. The buckets are narrow around the promised times. */
const LATENCY_BUCKETS = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600];

export type WorkerMetrics = ReturnType<typeof workerMetrics>;

export function workerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    attempts: new Histogram({
      name: 'onecode_attempt_seconds',
      help: 'Duration of one call to Meta, by outcome',
      labelNames: ['outcome'],
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
      registers,
    }),
    acceptance: new Histogram({
      name: 'onecode_acceptance_seconds',
      help: 'Time from the request until Meta accepts the message, of live sends',
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    delivery: new Histogram({
      name: 'onecode_delivery_seconds',
      help: 'Time from the request until the message reaches the phone, of delivered live sends',
      buckets: LATENCY_BUCKETS,
      registers,
    }),
    // Incremented when a failure starts a block, and for each request that Meta rejects as faulty. Alert on an increase. Failures of the
    // scopes `limit` and `sender` may end without an operator.
    senderFailures: new Counter({
      name: 'onecode_sender_failures_total',
      help: 'Failures that Meta reported for senders. scope: `limit`, `sender`, or what an operator must fix, such as `token`',
      labelNames: ['scope', 'error_code'],
      registers,
    }),
  };
}

/** Counts the traffic of a change of a send's delivery, and observes the latency of live sends. */
export function recordDelivery(
  counter: TrafficCounter,
  { acceptance, delivery }: Pick<WorkerMetrics, 'acceptance' | 'delivery'>,
  before: Send,
  after: Send,
): void {
  for (const key of trafficEvents(before, after)) counter.count(key);
  if (after.mode !== 'live') return;
  const secondsTo = (time: Date): number => (time.getTime() - after.createdAt.getTime()) / 1_000;
  if (before.sentAt === null && after.sentAt !== null) acceptance.observe(secondsTo(after.sentAt));
  const arrivedAt = after.deliveredAt ?? after.readAt;
  if (!hasArrived(before) && hasArrived(after) && arrivedAt !== null) delivery.observe(secondsTo(arrivedAt));
}
