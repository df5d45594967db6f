import type { HealthStatistics, RedisRefusal, StoppedTemplate } from './healthStatistics.js';
import type { FailureReason } from './send.js';
import { endedSends, sumOf, type EndedSends, type TrafficCount, type WebhookResult } from './traffic.js';

/** Who has to act. `held`: operators stopped something on purpose. */
type Whose = 'nobody' | 'us' | 'redis' | 'postgresql' | 'meta' | 'held';
export type Severity = 'ok' | 'degraded' | 'failing';

/** The checks of the health page. A check is `ok` as long as it has no finding. */
export const HEALTH_CHECKS = [
  'postgresql',
  'redis',
  'loops',
  'queues',
  'due',
  'forSender',
  'held',
  'senders',
  'attempts',
  'latency',
  'receipts',
  'receiptsDue',
  'ended',
  'webhooks',
] as const;
export type HealthCheck = (typeof HEALTH_CHECKS)[number];

/** A problem that a check found. */
export interface Finding {
  whose: Exclude<Whose, 'nobody'>;
  severity: Exclude<Severity, 'ok'>;
  /** The pages have a sentence and an advice for each. */
  what: What;
  check: HealthCheck;
  /** What a sentence names. */
  template?: StoppedTemplate;
  failures?: Failures;
  refusal?: RedisRefusal;
}

/** The sends that failed in five minutes: all, or those of a country, of a sender, or for a reason. */
export interface Failures {
  country?: string;
  senderId?: string;
  /** What most of them failed for. */
  reason: FailureReason | '';
  failed: number;
  /** All that ended, delivered or failed. */
  ended: number;
}

type What =
  | 'postgresql_away'
  | 'postgresql_slow'
  | 'postgresql_full'
  | 'redis_away'
  | 'redis_slow'
  | 'redis_refuses_writes'
  | 'redis_unfit'
  | 'no_worker'
  | 'sweeper_stopped'
  | 'queue_paused'
  | 'configuration_fault'
  | 'provider_failing'
  | 'provider_slow'
  | 'senders_paused'
  | 'senders_cooling_down'
  | 'no_senders'
  | 'senders_stopped'
  | 'template_stopped'
  | 'template_stopped_everywhere'
  | 'senders_busy'
  | 'receipts_missing'
  | 'receipts_late'
  | 'webhooks_rejected'
  | 'sends_failing'
  | 'reason_failing'
  | 'country_failing'
  | 'sender_failing'
  | 'sends_late'
  | 'sends_held';

/** The answer to "is it us, Redis, PostgreSQL or Meta?" */
export interface Verdict {
  whose: Whose;
  severity: Severity;
  what: What | 'all_clear';
  template?: StoppedTemplate;
  failures?: Failures;
  refusal?: RedisRefusal;
}

interface Thresholds {
  degraded: number;
  failing: number;
}

/** Milliseconds to an answer; PostgreSQL and Redis need one or two. */
const ANSWER_MS: Thresholds = { degraded: 200, failing: 1_000 };
/** Shares of the connections that PostgreSQL allows. */
const CONNECTIONS: Thresholds = { degraded: 0.8, failing: 0.95 };
/** A worker sweeps about every second. */
const SWEEP_SECONDS: Thresholds = { degraded: 10, failing: 20 };
/** A due send is enqueued within a second, and again after three. */
const DUE_SECONDS: Thresholds = { degraded: 5, failing: 15 };
/** The provider answers in less than a second; workers give up after ten. */
const LATENCY_SECONDS: Thresholds = { degraded: 3, failing: 8 };
/** Shares of failed calls to the provider. */
const FAILING_CALLS: Thresholds = { degraded: 0.1, failing: 0.5 };
/** The share of fewer calls says nothing. */
const CALLS_MIN = 5;
const RECEIPT_SECONDS: Thresholds = { degraded: 15, failing: 60 };
/** From so many accepted messages on, receipts must have come, which the provider sends within seconds. */
const ACCEPTED_MIN = 20;
/** Shares of the accepted messages without any receipt. */
const UNREPORTED: Thresholds = { degraded: 0.5, failing: 0.9 };
/** Webhooks with a wrong signature: anybody may post one. Where others come through, they are noise. */
const REJECTED_MIN = 5;
/** Shares of the sends that ended. Up to a fifth fails in some countries, because many numbers have no WhatsApp. */
const FAILED: Thresholds = { degraded: 0.3, failing: 0.5 };
/** Shares of the sends that ended by what no recipient can have caused. */
const FAILED_BY_US: Thresholds = { degraded: 0.05, failing: 0.2 };
/** The share of fewer ended sends says nothing. */
const ENDED_MIN = 10;
/** More countries, or senders, are not named. */
const NAMED_MAX = 3;
/** How long a send may wait while senders are available. */
const BUSY_SECONDS: Thresholds = { degraded: 10, failing: 60 };

type Found = Finding | null;

/** Returns all findings: failing ones before degraded ones, and causes before their consequences. */
export function healthFindings(statistics: HealthStatistics): Finding[] {
  const findings = CHECKS.flatMap((check) => check(statistics));
  const rank = ({ severity }: Finding): number => (severity === 'failing' ? 0 : 1);
  return findings.filter((finding) => finding !== null).toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the verdict of the findings: the first of them, or that all is clear. */
export function healthVerdict([worst]: readonly Finding[]): Verdict {
  if (worst === undefined) return { whose: 'nobody', severity: 'ok', what: 'all_clear' };
  const { check: _check, ...verdict } = worst;
  return verdict;
}

/** The severity of a value that should be low. */
function severityOf(value: number, { degraded, failing }: Thresholds): Finding['severity'] | null {
  if (value >= failing) return 'failing';
  return value >= degraded ? 'degraded' : null;
}

const finding = (
  severity: Finding['severity'] | null,
  whose: Finding['whose'],
  what: What,
  check: HealthCheck,
): Found => severity && { whose, severity, what, check };

function postgresql({ postgresqlMs }: HealthStatistics): Found {
  if (postgresqlMs === null) return finding('failing', 'postgresql', 'postgresql_away', 'postgresql');
  return finding(severityOf(postgresqlMs, ANSWER_MS), 'postgresql', 'postgresql_slow', 'postgresql');
}

/**
 * Statistics that did not come in time, while PostgreSQL answers, mean a slow PostgreSQL too. If sweeps do not end either, something
 * holds up all statements, as a lock does.
 */
function connections(statistics: HealthStatistics): Found {
  const { postgresqlMs, connections: counted, waiting, attempts, provider, receipts, traffic } = statistics;
  if (postgresqlMs === null || postgresqlMs >= ANSWER_MS.degraded) return null;
  if (counted !== null) {
    const share = severityOf(counted.used / counted.most, CONNECTIONS);
    if (share !== null) return finding(share, 'postgresql', 'postgresql_full', 'postgresql');
  }
  const isLate = [counted, waiting, attempts, provider, receipts, traffic].includes(null);
  const isSweepLate = sweeper(statistics)?.what === 'sweeper_stopped';
  return finding(
    isLate ? (isSweepLate ? 'failing' : 'degraded') : null,
    'postgresql',
    'postgresql_slow',
    'postgresql',
  );
}

function redis({ redisMs, redisRefusal: refusal, queues }: HealthStatistics): Found {
  if (refusal != null) {
    const what = refusal === 'unfit' ? 'redis_unfit' : 'redis_refuses_writes';
    return { whose: 'redis', severity: 'failing', what, check: 'redis', refusal };
  }
  if (redisMs === null || queues === null) return finding('failing', 'redis', 'redis_away', 'redis');
  return finding(severityOf(redisMs, ANSWER_MS), 'redis', 'redis_slow', 'redis');
}

function sweeper({ loops }: HealthStatistics): Found {
  if (loops === null) return null;
  const ages = loops.filter(({ loop }) => loop === 'sweep').map(({ secondsAgo }) => secondsAgo);
  if (ages.length === 0) return finding('failing', 'us', 'no_worker', 'loops');
  return finding(severityOf(Math.min(...ages), SWEEP_SECONDS), 'us', 'sweeper_stopped', 'loops');
}

function queue({ queues }: HealthStatistics): Found {
  const isPaused = queues?.some((one) => one.isPaused) ?? false;
  return finding(isPaused ? 'failing' : null, 'us', 'queue_paused', 'queues');
}

/** The provider refuses our account, token or template: we have to fix it, at the provider. */
function configuration({ provider }: HealthStatistics): Found {
  return finding((provider?.config ?? 0) > 0 ? 'failing' : null, 'us', 'configuration_fault', 'attempts');
}

function senders({ senders: all, waiting }: HealthStatistics): Found {
  if (all === null) return null;
  if (all.length === 0)
    return finding((waiting?.forSender.count ?? 0) > 0 ? 'failing' : null, 'us', 'no_senders', 'senders');
  const stopped = all.filter(({ state }) => state !== 'active');
  const severity = stopped.length === all.length ? 'failing' : stopped.length > 0 ? 'degraded' : null;
  if (stopped.some(({ isStoppedByProvider }) => isStoppedByProvider === true))
    return finding(severity, 'meta', 'senders_stopped', 'senders');
  return stopped.some(({ state }) => state === 'cooling_down')
    ? finding(severity, 'meta', 'senders_cooling_down', 'senders')
    : finding(severity, 'held', 'senders_paused', 'senders');
}

/** Before a send fails: each template that stopped senders for its language, and whether others serve it still. */
function templates({ stoppedTemplates }: HealthStatistics): Finding[] {
  return (stoppedTemplates ?? []).map((template) => ({
    whose: 'meta',
    severity: template.serving === 0 ? 'failing' : 'degraded',
    what: template.serving === 0 ? 'template_stopped_everywhere' : 'template_stopped',
    check: 'senders',
    template,
  }));
}

function provider({ provider: answers }: HealthStatistics): Found {
  if (answers === null || answers.calls < CALLS_MIN) return null;
  return finding(
    severityOf(answers.failing / answers.calls, FAILING_CALLS),
    'meta',
    'provider_failing',
    'attempts',
  );
}

function latency({ provider: answers }: HealthStatistics): Found {
  return finding(severityOf(answers?.secondsP95 ?? 0, LATENCY_SECONDS), 'meta', 'provider_slow', 'latency');
}

/** Of each message at least one receipt comes: `sent`, or what follows it. */
function receiptsMissing({ traffic }: HealthStatistics): Found {
  return finding(missingReceipts(traffic), 'meta', 'receipts_missing', 'receipts');
}

function missingReceipts(traffic: HealthStatistics['traffic']): Finding['severity'] | null {
  const counted = (event: TrafficCount['event']): number =>
    sumOf(traffic?.twoMinutes ?? [], (count) => count.event === event);
  const accepted = counted('accepted');
  if (accepted < ACCEPTED_MIN) return null;
  const reported = Math.max(
    counted('receipt_sent'),
    counted('receipt_delivered') + counted('receipt_failed'),
    counted('receipt_read'),
  );
  return severityOf(1 - reported / accepted, UNREPORTED);
}

/** Rejected webhooks are noise where others come through, but the cause where receipts are missing: then they are named before these. */
function webhooks({ traffic }: HealthStatistics): Found {
  const counted = (result: WebhookResult): number =>
    sumOf(traffic?.fiveMinutes ?? [], ({ event, reason }) => event === 'webhook' && reason === result);
  const isRejected = counted('invalid_signature') >= REJECTED_MIN;
  const isCause = counted('accepted') === 0 || missingReceipts(traffic) !== null;
  const severity = isCause ? 'failing' : 'degraded';
  return finding(isRejected ? severity : null, 'us', 'webhooks_rejected', 'webhooks');
}

/** The shares of ended sends that failed: of all, by reason, by country and by sender. Codes that expire under a hold are no failure. */
function failures({ traffic, waiting }: HealthStatistics): Finding[] {
  const isHeld = (waiting?.held.count ?? 0) > 0;
  const counts = (traffic?.fiveMinutes ?? []).filter(
    ({ reason }) => !isHeld || reason !== 'expired_before_delivery',
  );
  const named = (
    what: What,
    groupOf: (count: TrafficCount) => string,
    names: (group: string) => Partial<Failures>,
  ): Finding[] =>
    [...endedSends(counts, groupOf)]
      .filter(([group]) => group !== '' || what === 'sends_failing')
      .flatMap(([group, ended]) => failing(what, ended, names(group)))
      .toSorted((a, b) => b.failures.failed - a.failures.failed)
      .slice(0, NAMED_MAX);
  return [
    ...named(
      'sends_failing',
      () => '',
      () => ({}),
    ),
    ...reasonFailing(counts),
    ...named(
      'country_failing',
      ({ country }) => country,
      (country) => ({ country }),
    ),
    ...named(
      'sender_failing',
      ({ senderId }) => senderId,
      (senderId) => ({ senderId }),
    ),
  ];
}

/** Reasons that are no recipient's fault. What the provider rejected may be, and counts with the others. */
const OWN_REASONS: readonly FailureReason[] = ['expired_before_delivery', 'attempts_exhausted'];

function reasonFailing(counts: readonly TrafficCount[]): Finding[] {
  const all = endedSends(counts, () => '').get('');
  if (all === undefined) return [];
  const ended = all.delivered + all.failed;
  return OWN_REASONS.flatMap((reason) => {
    const failed = sumOf(counts, (count) => count.event === 'failed' && count.reason === reason);
    const severity = ended < ENDED_MIN ? null : severityOf(failed / ended, FAILED_BY_US);
    if (severity === null) return [];
    const whose = reason === 'expired_before_delivery' ? 'us' : 'meta';
    return [{ whose, severity, what: 'reason_failing', check: 'ended', failures: { reason, failed, ended } }];
  });
}

function failing(
  what: What,
  { delivered, failed, reason }: EndedSends,
  names: Partial<Failures>,
): (Finding & { failures: Failures })[] {
  const ended = delivered + failed;
  const severity = ended < ENDED_MIN ? null : severityOf(failed / ended, FAILED);
  if (severity === null) return [];
  const whose = reason === 'expired_before_delivery' ? 'us' : 'meta';
  return [{ whose, severity, what, check: 'ended', failures: { ...names, reason, failed, ended } }];
}

function receiptsLate({ receipts }: HealthStatistics): Found {
  return finding(
    severityOf(receipts?.oldestDueSeconds ?? 0, RECEIPT_SECONDS),
    'us',
    'receipts_late',
    'receiptsDue',
  );
}

function due({ waiting }: HealthStatistics): Found {
  return finding(severityOf(waiting?.due.oldestSeconds ?? 0, DUE_SECONDS), 'us', 'sends_late', 'due');
}

/** Active senders have too little throughput for the sends that come, unless these wait for a language that none serves. */
function busy({ waiting, senders: all, stoppedTemplates }: HealthStatistics): Found {
  const isAnyActive = all?.some(({ state }) => state === 'active') ?? false;
  const isAnyUnserved = stoppedTemplates?.some(({ serving }) => serving === 0) ?? false;
  const seconds = isAnyActive && !isAnyUnserved ? (waiting?.forSender.oldestSeconds ?? 0) : 0;
  return finding(severityOf(seconds, BUSY_SECONDS), 'us', 'senders_busy', 'forSender');
}

function held({ waiting }: HealthStatistics): Found {
  return finding((waiting?.held.count ?? 0) > 0 ? 'degraded' : null, 'held', 'sends_held', 'held');
}

/** Causes before their consequences. */
const CHECKS: readonly ((statistics: HealthStatistics) => Found | Finding[])[] = [
  postgresql,
  connections,
  redis,
  sweeper,
  queue,
  configuration,
  senders,
  templates,
  provider,
  latency,
  webhooks,
  receiptsMissing,
  receiptsLate,
  failures,
  due,
  busy,
  held,
];

/** What `healthFindings` may find, by whose and how severe it can be. Those who watch metrics see each, found or not. */
export const KNOWN_FINDINGS: readonly Pick<Finding, 'what' | 'whose' | 'severity'>[] = (
  [
    ['postgresql_away', 'postgresql', 'failing'],
    ['postgresql_slow', 'postgresql', 'degraded', 'failing'],
    ['postgresql_full', 'postgresql', 'degraded', 'failing'],
    ['redis_away', 'redis', 'failing'],
    ['redis_refuses_writes', 'redis', 'failing'],
    ['redis_unfit', 'redis', 'failing'],
    ['redis_slow', 'redis', 'degraded', 'failing'],
    ['no_worker', 'us', 'failing'],
    ['sweeper_stopped', 'us', 'degraded', 'failing'],
    ['queue_paused', 'us', 'failing'],
    ['configuration_fault', 'us', 'failing'],
    ['no_senders', 'us', 'failing'],
    ['senders_stopped', 'meta', 'degraded', 'failing'],
    ['senders_cooling_down', 'meta', 'degraded', 'failing'],
    ['senders_paused', 'held', 'degraded', 'failing'],
    ['template_stopped', 'meta', 'degraded'],
    ['template_stopped_everywhere', 'meta', 'failing'],
    ['provider_failing', 'meta', 'degraded', 'failing'],
    ['provider_slow', 'meta', 'degraded', 'failing'],
    ['webhooks_rejected', 'us', 'degraded', 'failing'],
    ['receipts_missing', 'meta', 'degraded', 'failing'],
    ['receipts_late', 'us', 'degraded', 'failing'],
    ['sends_failing', 'meta', 'degraded', 'failing'],
    ['sends_failing', 'us', 'degraded', 'failing'],
    ['reason_failing', 'meta', 'degraded', 'failing'],
    ['reason_failing', 'us', 'degraded', 'failing'],
    ['country_failing', 'meta', 'degraded', 'failing'],
    ['country_failing', 'us', 'degraded', 'failing'],
    ['sender_failing', 'meta', 'degraded', 'failing'],
    ['sender_failing', 'us', 'degraded', 'failing'],
    ['sends_late', 'us', 'degraded', 'failing'],
    ['senders_busy', 'us', 'degraded', 'failing'],
    ['sends_held', 'held', 'degraded'],
  ] as const satisfies [What, Finding['whose'], ...Finding['severity'][]][]
).flatMap(([what, whose, ...severities]) => severities.map((severity) => ({ what, whose, severity })));
