import { hasArrived, NO_COUNTRY, trafficEvents, type Receipt, type Send } from '@onecode/domain';
import type { TrafficCounter } from '@onecode/store/operations';
import type { WorkerMetrics } from './metrics.js';

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

/** Counts a receipt that was applied or ignored. @param send null for a receipt that matches no send */
export function recordReceipt(
  counter: TrafficCounter,
  { status, failure }: Pick<Receipt, 'status' | 'failure'>,
  send: Pick<Send, 'country' | 'senderId'> | null,
): void {
  counter.count({
    event: `receipt_${status}`,
    country: send?.country ?? NO_COUNTRY,
    senderId: send?.senderId ?? '',
    accountId: '',
    reason: send === null ? 'unmatched' : (failure?.kind ?? ''),
  });
}
