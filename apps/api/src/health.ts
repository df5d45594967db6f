import {
  groupDeliveries,
  isLateForOneAccount,
  KNOWN_FINDINGS,
  SENDER_STATES,
  undeliveredShare,
  type Finding,
} from '@onecode/domain';
import { Counter, Gauge, type Registry } from '@onecode/runtime';
import type { ServiceHealth } from '@onecode/store/operations';

/**
 * Registers the metrics of the whole service. Each API process exports all of them with the same values, so queries must take the maximum
 * over processes, never the sum.
 */
export function healthMetrics(registry: Registry) {
  const registers = [registry];
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> =>
    new Gauge({ name, help, labelNames, registers });
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> =>
    new Counter({ name, help, labelNames, registers });
  return {
    findings: gauge('onecode_health_finding', 'Findings about the whole service: 1 if present', [
      'finding',
      'owner',
      'severity',
    ]),
    lateForOne: gauge(
      'onecode_late_for_one_account',
      '1 if one account alone causes too many late codes or failures of the service',
      [],
    ),
    due: gauge('onecode_oldest_due_send_seconds', 'How long the oldest due send has waited for a worker', []),
    waiting: gauge(
      'onecode_oldest_waiting_send_seconds',
      'How long the oldest waiting send has waited, by reason',
      ['reason'],
    ),
    receiptsDue: gauge(
      'onecode_oldest_unapplied_receipt_seconds',
      'How long the oldest stored receipt has waited to be applied',
      [],
    ),
    sweep: gauge(
      'onecode_sweeper_last_run_seconds',
      'Time since the last successful run of a sweep loop',
      [],
    ),
    senders: gauge('onecode_sender_state', 'State of each sender: 1 for its current state', [
      'sender',
      'state',
    ]),
    undelivered: gauge(
      'onecode_undelivered_share',
      'Share of the messages accepted in the last day that never arrived, for each country and each sender with at least 100 messages',
      ['country', 'sender'],
    ),
    jobs: gauge('onecode_queue_jobs', 'Jobs in Redis, by queue and state', ['queue', 'state']),
    receipts: counter('onecode_receipts_total', 'Processed receipts, by the status that they report', [
      'status',
      'country',
      'reason',
    ]),
    failures: counter('onecode_failures_total', 'Live sends that failed', ['reason', 'country']),
  };
}

type HealthMetrics = ReturnType<typeof healthMetrics>;

/**
 * Sets the metrics to a reading and its findings. Values that could not be read are omitted. The findings are always exported, and one of
 * them reports the failed read.
 */
export function showHealth(
  metrics: HealthMetrics,
  health: ServiceHealth,
  findings: readonly Finding[],
): void {
  for (const metric of Object.values(metrics)) metric.reset();
  // A reset gauge without labels is 0. It is omitted until it is set.
  for (const gauge of [metrics.due, metrics.receiptsDue, metrics.sweep]) gauge.remove();

  for (const { name, owner, severity } of KNOWN_FINDINGS)
    metrics.findings.set({ finding: name, owner, severity }, 0);
  for (const { name, owner, severity } of findings)
    metrics.findings.set({ finding: name, owner, severity }, 1);
  metrics.lateForOne.set(isLateForOneAccount(health) ? 1 : 0);

  const { waiting, receipts } = health;
  if (waiting !== null) {
    const own = (health.ownWaiting ?? []).map((account) => account.waiting.oldestSeconds ?? 0);
    metrics.due.set(waiting.due.oldestSeconds ?? 0);
    metrics.waiting.set({ reason: 'sender' }, waiting.forSender.oldestSeconds ?? 0);
    metrics.waiting.set({ reason: 'own_sender' }, Math.max(0, ...own));
    metrics.waiting.set({ reason: 'hold' }, waiting.held.oldestSeconds ?? 0);
  }
  if (receipts !== null) metrics.receiptsDue.set(receipts.oldestDueSeconds ?? 0);
  const sweeps = (health.loops ?? []).filter(({ loop }) => loop === 'sweep');
  if (sweeps.length > 0) metrics.sweep.set(Math.min(...sweeps.map(({ secondsAgo }) => secondsAgo)));

  for (const { id, state } of health.senders ?? [])
    for (const one of SENDER_STATES) metrics.senders.set({ sender: id, state: one }, one === state ? 1 : 0);
  for (const by of ['country', 'senderId'] as const)
    for (const { name, lastDay } of groupDeliveries(health.deliveries ?? [], by)) {
      const share = undeliveredShare(lastDay);
      const labels = by === 'country' ? { country: name, sender: '' } : { country: '', sender: name };
      if (share !== null) metrics.undelivered.set(labels, share);
    }
  for (const { name, isPaused: _, ...counts } of health.queues ?? [])
    for (const [state, jobs] of Object.entries(counts)) metrics.jobs.set({ queue: name, state }, jobs);

  for (const { event, country, reason, count } of health.traffic?.totals ?? []) {
    if (event === 'failed') metrics.failures.inc({ reason, country }, count);
    else if (event.startsWith('receipt_'))
      metrics.receipts.inc({ status: event.slice('receipt_'.length), country, reason }, count);
  }
}
