import {
  groupDeliveries,
  healthFindings,
  isLateForOneAccount,
  KNOWN_FINDINGS,
  SENDER_STATES,
  undeliveredShare,
  type DeliveryGroup,
  type Finding,
} from '@onecode/domain';
import { Counter, Gauge, type Registry } from '@onecode/runtime';
import type { ServiceHealth, TrafficTotal } from '@onecode/store/operations';

/** Scrapes within this time share one health reading. */
const READING_MS_MAX = 2_000;

/**
 * Registers the metrics of the whole service. Each API process exports all of them with the same values, so queries must take the maximum
 * over processes, never the sum. They are read on each scrape. Values that cannot be read are omitted. The findings are always exported,
 * and one of them reports the failed read.
 */
export function gaugeHealth(registry: Registry, read: () => Promise<ServiceHealth>): void {
  const metrics = healthMetrics(registry);
  let last: { at: number; done: Promise<void> } | undefined;
  const collect = (): Promise<void> => {
    if (last === undefined || performance.now() - last.at > READING_MS_MAX)
      last = { at: performance.now(), done: read().then((health) => show(metrics, health)) };
    return last.done;
  };
  // The library collects each metric separately. The first one starts the reading, and all of them wait for it.
  for (const metric of Object.values(metrics))
    (metric as { collect?: () => Promise<void> }).collect = collect;
}

function healthMetrics(registry: Registry) {
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
    awaiting: gauge('onecode_awaiting_sender', 'Sends that wait for a sender or for the end of a hold', []),
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
      'Share of the messages accepted in the last day that never arrived, by country and by sender, of at least 100 messages',
      ['country', 'sender'],
    ),
    jobs: gauge('onecode_queue_jobs', 'Jobs in Redis, by queue and state', ['queue', 'state']),
    receipts: counter('onecode_receipts_total', 'Processed receipts, by the status that they report', [
      'status',
      'country',
      'reason',
    ]),
    failures: counter('onecode_failures_total', 'Live sends that failed', ['reason', 'country']),
    webhooks: counter('onecode_webhook_requests_total', 'Requests from Meta to the webhook, by result', [
      'result',
    ]),
  };
}

type HealthMetrics = ReturnType<typeof healthMetrics>;

function show(metrics: HealthMetrics, health: ServiceHealth): void {
  for (const metric of Object.values(metrics)) metric.reset();
  showFindings(metrics, healthFindings(health));
  metrics.lateForOne.set(isLateForOneAccount(health) ? 1 : 0);
  const { waiting, ownWaiting, receipts, deliveries, loops, senders, queues, traffic } = health;
  if (waiting !== null) {
    metrics.waiting.set({ reason: 'sender' }, waiting.forSender.oldestSeconds ?? 0);
    const own = (ownWaiting ?? []).map((one) => one.waiting.oldestSeconds ?? 0);
    metrics.waiting.set({ reason: 'own_sender' }, Math.max(0, ...own));
    metrics.waiting.set({ reason: 'hold' }, waiting.held.oldestSeconds ?? 0);
  }
  const sweeps = (loops ?? []).filter(({ loop }) => loop === 'sweep').map(({ secondsAgo }) => secondsAgo);
  setIfKnown(metrics.due, waiting && (waiting.due.oldestSeconds ?? 0));
  const ownCount = (ownWaiting ?? []).reduce((sum, one) => sum + one.waiting.count, 0);
  setIfKnown(metrics.awaiting, waiting && waiting.forSender.count + ownCount + waiting.held.count);
  setIfKnown(metrics.receiptsDue, receipts && (receipts.oldestDueSeconds ?? 0));
  setIfKnown(metrics.sweep, sweeps.length === 0 ? null : Math.min(...sweeps));
  for (const { id, state } of senders ?? [])
    for (const one of SENDER_STATES) metrics.senders.set({ sender: id, state: one }, one === state ? 1 : 0);
  showUndelivered(metrics.undelivered, 'country', groupDeliveries(deliveries ?? [], 'country'));
  showUndelivered(metrics.undelivered, 'sender', groupDeliveries(deliveries ?? [], 'senderId'));
  for (const { name, isPaused: _, ...counts } of queues ?? [])
    for (const [state, jobs] of Object.entries(counts)) metrics.jobs.set({ queue: name, state }, jobs);
  for (const total of traffic?.totals ?? []) showTotal(metrics, total);
}

function setIfKnown(gauge: Gauge, value: number | null): void {
  if (value === null) gauge.remove();
  else gauge.set(value);
}

function showUndelivered(
  gauge: Gauge<'country' | 'sender'>,
  by: 'country' | 'sender',
  groups: readonly DeliveryGroup[],
): void {
  for (const { name, lastDay } of groups) {
    const share = undeliveredShare(lastDay);
    if (share !== null) gauge.set({ country: '', sender: '', [by]: name }, share);
  }
}

function showFindings({ findings: gauge }: HealthMetrics, findings: readonly Finding[]): void {
  for (const { name, owner, severity } of KNOWN_FINDINGS) gauge.set({ finding: name, owner, severity }, 0);
  for (const { name, owner, severity } of findings) gauge.set({ finding: name, owner, severity }, 1);
}

function showTotal(metrics: HealthMetrics, { event, country, reason, count }: TrafficTotal): void {
  if (event === 'failed') metrics.failures.inc({ reason, country }, count);
  else if (event === 'webhook') metrics.webhooks.inc({ result: reason }, count);
  else if (event.startsWith('receipt_'))
    metrics.receipts.inc({ status: event.slice('receipt_'.length), country, reason }, count);
}
