import type { SenderState } from './senders.js';

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
] as const;
export type HealthCheck = (typeof HEALTH_CHECKS)[number];

interface Backlog {
  count: number;
  /** Null for an empty backlog. */
  oldestSeconds: number | null;
}

/** The statistics that the checks read. Null means that a source did not answer in time. */
export interface HealthStatistics {
  /** Milliseconds to an answer. */
  postgresqlMs: number | null;
  redisMs: number | null;
  connections: { used: number; most: number } | null;
  queues: readonly { isPaused: boolean }[] | null;
  /** Sends that are due, that wait for a sender, and that are held. */
  waiting: { due: Backlog; forSender: Backlog; held: Backlog } | null;
  /** Calls to the provider by minute; only their presence counts. */
  attempts: readonly unknown[] | null;
  /** Calls to the provider in the last minutes, by outcome. */
  provider: {
    calls: number;
    accepted: number;
    failing: number;
    config: number;
    secondsP95: number | null;
  } | null;
  receipts: { lastTenMinutes: number; oldestDueSeconds: number | null } | null;
  /** The last round of each loop of each worker. */
  loops: readonly { loop: string; secondsAgo: number }[] | null;
  senders: readonly { state: SenderState; isStoppedByProvider?: boolean }[] | null;
  /** Templates that stopped senders for a language. */
  stoppedTemplates?: readonly StoppedTemplate[] | null;
}

/** A template that stopped senders for its language, by the provider's word or by what calls met. */
export interface StoppedTemplate {
  template: string;
  /** As the provider writes it. */
  language: string;
  /** The provider's word for its status, or `REFUSED` where only calls tell. */
  status: string;
  /** RFC 3339. */
  at: string;
  /** Senders that still serve the language. */
  serving: number;
}

/** A problem that a check found. */
export interface Finding {
  whose: Exclude<Whose, 'nobody'>;
  severity: Exclude<Severity, 'ok'>;
  /** The pages have a sentence and an advice for each. */
  what: What;
  check: HealthCheck;
  /** What a sentence names. */
  template?: StoppedTemplate;
}

type What =
  | 'postgresql_away'
  | 'postgresql_slow'
  | 'postgresql_full'
  | 'redis_away'
  | 'redis_slow'
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
  | 'sends_late'
  | 'sends_held';

/** The answer to "is it us, Redis, PostgreSQL or Meta?" */
export interface Verdict {
  whose: Whose;
  severity: Severity;
  what: What | 'all_clear';
  template?: StoppedTemplate;
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
/** From so many accepted messages on, at least one receipt must have come. */
const ACCEPTED_WITHOUT_RECEIPT = 20;
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

/** Statistics that did not come in time, while PostgreSQL answers, mean a slow PostgreSQL too. */
function connections(statistics: HealthStatistics): Found {
  const { postgresqlMs, connections: counted, waiting, attempts, provider, receipts } = statistics;
  if (postgresqlMs === null || postgresqlMs >= ANSWER_MS.degraded) return null;
  if (counted !== null) {
    const share = severityOf(counted.used / counted.most, CONNECTIONS);
    if (share !== null) return finding(share, 'postgresql', 'postgresql_full', 'postgresql');
  }
  const isLate = [counted, waiting, attempts, provider, receipts].includes(null);
  return finding(isLate ? 'degraded' : null, 'postgresql', 'postgresql_slow', 'postgresql');
}

function redis({ redisMs, queues }: HealthStatistics): Found {
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

function receiptsMissing({ provider: answers, receipts }: HealthStatistics): Found {
  const areMissing = (answers?.accepted ?? 0) >= ACCEPTED_WITHOUT_RECEIPT && receipts?.lastTenMinutes === 0;
  return finding(areMissing ? 'failing' : null, 'meta', 'receipts_missing', 'receipts');
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
  receiptsMissing,
  receiptsLate,
  due,
  busy,
  held,
];
