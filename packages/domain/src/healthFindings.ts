import { FINDINGS, type FindingName, type Owner, type Severity } from './findings.js';
import {
  NO_BACKLOG,
  type HealthStatistics,
  type RedisRefusal,
  type SenderAccount,
  type SenderStop,
  type StoppedTemplate,
} from './healthStatistics.js';
import type { FailureReason } from './send.js';
import { endedOfOthers, endedSends, endOf, sumOf, type TrafficCount, type WebhookResult } from './traffic.js';

export interface Finding {
  name: FindingName;
  owner: Owner;
  severity: Severity;
  /** Whose senders it is about, where these are not those that all accounts share. Then it is `degraded` at most: it pages nobody. */
  account?: SenderAccount;
  /** What it is about, where there may be several of its kind. */
  template?: StoppedTemplate;
  failures?: Failures;
  refusal?: RedisRefusal;
  /** What stops which senders, and how many senders there are. */
  stops?: readonly (SenderStop & { senderId: string; number: string })[];
  senders?: number;
  /** Numbers whose quality is low. */
  flagged?: readonly { senderId: string; number: string }[];
}

/** What tells findings of one name apart; empty for most. */
export const subjectOf = ({ name, account, template, failures, stops }: Finding): string => {
  const subject =
    (template && `${template.template} ${template.language}`) ??
    failures?.country ??
    failures?.senderId ??
    (name === 'reason_failing' ? failures?.reason : undefined) ??
    (name === 'configuration_fault' ? causeOf(stops![0]!) : '');
  return account === undefined ? subject : `${account.id} ${subject}`;
};

const causeOf = ({ errorCode, reason }: SenderStop): string => String(errorCode ?? reason);

/** The sends that failed in five minutes: all, or those of a country, of a sender, or for a reason. */
export interface Failures {
  country?: string;
  senderId?: string;
  /** What most of them failed for. */
  reason: FailureReason | '';
  failed: number;
  /** All that ended, delivered or failed. */
  ended: number;
  /** Accounts of which some failed. */
  accounts: number;
}

interface Thresholds {
  degraded: number;
  failing: number;
}

/** Milliseconds to an answer; PostgreSQL and Redis need one or two. */
const ANSWER_MS: Thresholds = { degraded: 200, failing: 1_000 };
/** Shares of the connections that PostgreSQL allows. */
const CONNECTIONS: Thresholds = { degraded: 0.8, failing: 0.95 };
/** A worker looks for due deliveries four times a second, and sweeps about every second. */
const SWEEP_SECONDS: Thresholds = { degraded: 10, failing: 20 };
/** A due send is taken within moments, a new one whose job was lost after two seconds. */
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
/** Webhooks with a wrong signature: anybody may post one. */
const REJECTED_MIN = 5;
/** Shares of the sends that ended. Up to a fifth fails in some countries, because many numbers have no WhatsApp. */
const FAILED: Thresholds = { degraded: 0.3, failing: 0.5 };
/** Shares of the sends that ended by what no recipient can have caused. */
const FAILED_BY_US: Thresholds = { degraded: 0.05, failing: 0.2 };
/** The share of fewer ended sends says nothing. */
const ENDED_MIN = 10;
/** More countries, or senders, are not named. */
const NAMED_MAX = 3;
/** Retention runs every minute. A day is a promise in a privacy notice. */
const OVERDUE_SECONDS = 86_400;
/** How long a send may wait while senders are available. */
const BUSY_SECONDS: Thresholds = { degraded: 10, failing: 60 };
/** How long a mail may wait; a server may ask to come back in some minutes. */
const MAIL_SECONDS = 300;

/** What follows from a finding, and says nothing beside it. deploy/prometheus/alerts.yml keeps what waits quiet until workers have caught up. */
const CONSEQUENCES: Partial<Record<FindingName, readonly FindingName[]>> = {
  postgresql_away: ['sends_late'],
  redis_away: ['sends_late'],
  redis_refuses_writes: ['sends_late'],
  redis_unfit: ['sends_late'],
  no_worker: ['sends_late', 'senders_busy', 'receipts_late', 'retention_behind'],
  webhooks_rejected: ['receipts_missing'],
};

type Check = (statistics: HealthStatistics) => Finding | null | Finding[];

/** Returns all findings: failing ones before degraded ones, and causes before their consequences. */
export function healthFindings(statistics: HealthStatistics): Finding[] {
  const all = CHECKS.flatMap((check) => check(statistics)).filter((found) => found !== null);
  const consequences = new Set(all.flatMap(({ name }) => CONSEQUENCES[name] ?? []));
  const findings = all.filter(({ name }) => !consequences.has(name));
  return [
    ...findings.filter(({ severity }) => severity === 'failing'),
    ...findings.filter(({ severity }) => severity === 'degraded'),
  ];
}

const found = (
  name: FindingName,
  severity: Severity | null,
  more: Pick<Finding, 'template' | 'refusal' | 'stops' | 'senders' | 'flagged'> = {},
): Finding | null => severity && { name, owner: FINDINGS[name].owners[0], severity, ...more };

/** The severity of a value that should be low. */
function severityOf(value: number, { degraded, failing }: Thresholds): Severity | null {
  if (value >= failing) return 'failing';
  return value >= degraded ? 'degraded' : null;
}

const postgresql: Check = ({ postgresqlMs }) =>
  postgresqlMs === null
    ? found('postgresql_away', 'failing')
    : found('postgresql_slow', severityOf(postgresqlMs, ANSWER_MS));

/** Statistics that come too late mean a slow PostgreSQL too; if sweeps do not end either, something holds up all statements. */
const connections: Check = (statistics) => {
  const { postgresqlMs, connections: counted, waiting, attempts, provider, receipts, traffic } = statistics;
  if (postgresqlMs === null || postgresqlMs >= ANSWER_MS.degraded) return null;
  const full = counted && severityOf(counted.used / counted.most, CONNECTIONS);
  if (full !== null) return found('postgresql_full', full);
  const isLate = [counted, waiting, attempts, provider, receipts, traffic].includes(null);
  const isSweepLate = sweeper(statistics)?.name === 'sweeper_stopped';
  return found('postgresql_slow', isLate ? (isSweepLate ? 'failing' : 'degraded') : null);
};

const redis: Check = ({ redisMs, redisRefusal: refusal, queues }) => {
  if (refusal != null)
    return found(refusal === 'unfit' ? 'redis_unfit' : 'redis_refuses_writes', 'failing', { refusal });
  if (redisMs === null || queues === null) return found('redis_away', 'failing');
  return found('redis_slow', severityOf(redisMs, ANSWER_MS));
};

function sweeper({ loops, workers }: HealthStatistics): Finding | null {
  if (workers === 0) return found('no_worker', 'failing');
  if (loops === null) return null;
  const ages = ['deliver', 'sweep'].map((name) =>
    Math.min(...loops.filter(({ loop }) => loop === name).map(({ secondsAgo }) => secondsAgo)),
  );
  return found('sweeper_stopped', severityOf(Math.max(...ages), SWEEP_SECONDS));
}

const queue: Check = ({ queues }) =>
  found('queue_paused', queues?.some(({ isPaused }) => isPaused) === true ? 'failing' : null);

/** Judges the shared senders, and then those of each account by themselves: what stops these is no more than `degraded`. */
const ofEachOwner =
  (check: Check): Check =>
  (statistics) => {
    const { senders: all, stoppedTemplates: stopped, waiting, ownWaiting } = statistics;
    const of = (id: string | undefined): Pick<HealthStatistics, 'senders' | 'stoppedTemplates'> => ({
      senders: all && all.filter(({ account }) => account?.id === id),
      stoppedTemplates: stopped?.filter(({ account }) => account?.id === id) ?? null,
    });
    const judge = (more: Partial<HealthStatistics>): Finding[] =>
      [check({ ...statistics, ...more })].flat().filter((found) => found !== null);
    const accounts = new Map(
      [...(all ?? []), ...(ownWaiting ?? [])].flatMap(({ account }) =>
        account === null ? [] : [[account.id, account]],
      ),
    );
    const own = [...accounts.values()].flatMap((account) => {
      const forSender = ownWaiting?.find((one) => one.account.id === account.id)?.waiting ?? NO_BACKLOG;
      const found = judge({ ...of(account.id), waiting: waiting && { ...waiting, forSender } });
      return found.map((finding): Finding => ({ ...finding, severity: 'degraded', account }));
    });
    return [...judge(of(undefined)), ...own];
  };

type Stopped = NonNullable<Finding['stops']>;

const stopsOf = (
  senders: NonNullable<HealthStatistics['senders']>,
  isMeant: (stop: SenderStop, index: number) => boolean,
): Stopped =>
  senders.flatMap(({ id, number, stops }) =>
    stops.filter(isMeant).map((stop) => ({ ...stop, senderId: id, number })),
  );

/** The provider refuses our account, token or template: a finding for each cause, but for what it said of a template itself. */
const configuration: Check = ({ senders: all }) => {
  if (all === null) return null;
  const isTold = ({ senderId, onlyFor }: Stopped[number]): boolean =>
    onlyFor !== '' &&
    stopsOf(all, ({ cause }) => cause === 'provider').some(
      (told) => told.senderId === senderId && told.onlyFor === onlyFor,
    );
  const faults = stopsOf(all, ({ isConfiguration }) => isConfiguration).filter((fault) => !isTold(fault));
  return [...new Set(faults.map(causeOf))].map((cause) => {
    const stops = faults.filter((fault) => causeOf(fault) === cause);
    return found('configuration_fault', 'failing', { stops, senders: all.length })!;
  });
};

const STOPPED_BY = [
  ['senders_stopped', 'provider'],
  ['senders_cooling_down', 'fault'],
  ['senders_paused', 'operator'],
] as const;

/** What stops senders wholly, by its cause. Configuration faults have findings of their own. */
const senders: Check = ({ senders: all, waiting }) => {
  if (all === null) return null;
  if (all.length === 0) return found('no_senders', (waiting?.forSender.count ?? 0) > 0 ? 'failing' : null);
  const stopped = all.filter(({ state }) => state !== 'active');
  const severity = stopped.length === all.length ? 'failing' : 'degraded';
  const stops = stopsOf(stopped, ({ isConfiguration }, index) => index === 0 && !isConfiguration);
  return STOPPED_BY.flatMap(([name, by]) => {
    const own = stops.filter(({ cause }) => cause === by);
    return own.length === 0 ? [] : [found(name, severity, { stops: own, senders: all.length })!];
  });
};

/** Each template that the provider stopped, which stopped senders for its language, and whether others serve it still. */
const templates: Check = ({ stoppedTemplates, senders: all }) =>
  (stoppedTemplates ?? [])
    .filter(({ status }) => status !== 'REFUSED')
    .map((template) => {
      const locale = template.language === 'pt_BR' ? 'pt-BR' : 'en';
      const stops = stopsOf(all ?? [], ({ cause, onlyFor }) => cause === 'provider' && onlyFor === locale);
      const more = { template, stops, senders: all?.length ?? 0 };
      return template.serving === 0
        ? found('template_stopped_everywhere', 'failing', more)!
        : found('template_stopped', 'degraded', more)!;
    });

/** Low quality stops nothing yet, and is the sign that it soon may. */
const quality: Check = ({ senders: all }) => {
  const flagged = (all ?? [])
    .filter(({ isFlagged }) => isFlagged)
    .map(({ id, number }) => ({ senderId: id, number }));
  return found('senders_flagged', flagged.length > 0 ? 'degraded' : null, { flagged });
};

const provider: Check = ({ provider: answers }) =>
  answers === null || answers.calls < CALLS_MIN
    ? null
    : found('provider_failing', severityOf(answers.failing / answers.calls, FAILING_CALLS));

const latency: Check = ({ provider: answers }) =>
  found('provider_slow', severityOf(answers?.secondsP95 ?? 0, LATENCY_SECONDS));

const receiptsMissing: Check = ({ traffic }) => found('receipts_missing', missingReceipts(traffic));

/** Of each message at least one receipt comes: `sent`, or what follows it. */
function missingReceipts(traffic: HealthStatistics['traffic']): Severity | null {
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

/**
 * Rejected webhooks are noise, for anybody may post one, but the cause where receipts are missing: then they are named in place of these.
 * Where few messages go out, one whose receipt is two minutes late is missed as long as no webhook at all comes through.
 */
const webhooks: Check = ({ traffic }) => {
  const counted = (result: WebhookResult): number =>
    sumOf(traffic?.fiveMinutes ?? [], ({ event, reason }) => event === 'webhook' && reason === result);
  if (counted('invalid_signature') < REJECTED_MIN) return null;
  const messages = (counts: readonly TrafficCount[] = []): number =>
    sumOf(counts, ({ event }) => event === 'accepted');
  const isLate = messages(traffic?.fiveMinutes) > messages(traffic?.twoMinutes);
  const isCause = (counted('accepted') === 0 && isLate) || missingReceipts(traffic) !== null;
  return found('webhooks_rejected', isCause ? 'failing' : 'degraded');
};

/** The shares of ended sends that failed: of all, by reason, by country and by sender. Codes that expire under a hold are no failure. */
const failures: Check = ({ traffic, waiting }) => {
  const isHeld = (waiting?.held.count ?? 0) > 0;
  const all = (traffic?.fiveMinutes ?? []).filter(
    ({ event, reason }) =>
      event === 'delivered' || (event === 'failed' && !(isHeld && reason === 'expired_before_delivery')),
  );
  return [
    ...failing('sends_failing', all, all),
    ...OWN_REASONS.flatMap((reason) => {
      const isOther = (count: TrafficCount): boolean => count.event === 'failed' && count.reason !== reason;
      const counts = all.map((count) => (isOther(count) ? { ...count, event: 'delivered' as const } : count));
      return failing('reason_failing', counts, counts, {}, FAILED_BY_US);
    }),
    ...mostFailing('country_failing', all, 'country'),
    ...mostFailing('sender_failing', all, 'senderId'),
  ];
};

/** Reasons that are no recipient's fault. What the provider rejected may be, and counts with the others. */
const OWN_REASONS: readonly FailureReason[] = ['expired_before_delivery', 'attempts_exhausted'];

/** The countries or senders of which too many sends failed, those with most failures first. */
function mostFailing(
  name: FindingName,
  counts: readonly TrafficCount[],
  by: 'country' | 'senderId',
): Finding[] {
  return [...endedSends(counts, (count) => count[by])]
    .filter(([group]) => group !== '')
    .flatMap(([group, members]) => failing(name, members, counts, { [by]: group }))
    .toSorted((a, b) => b.failures!.failed - a.failures!.failed)
    .slice(0, NAMED_MAX);
}

/** The finding on a group of ended sends: `degraded` at most where one account may have done it to itself. */
function failing(
  name: FindingName,
  group: readonly TrafficCount[],
  all: readonly TrafficCount[],
  subject: Pick<Failures, 'country' | 'senderId'> = {},
  thresholds = FAILED,
): Finding[] {
  const { delivered, failed, reason } = endOf(group);
  const ended = delivered + failed;
  const severity = ended < ENDED_MIN ? null : severityOf(failed / ended, thresholds);
  if (severity === null) return [];
  const isOfOne = isOfOneAccount(group, all, thresholds.failing);
  const owner = reason === 'expired_before_delivery' ? 'us' : 'meta';
  return [
    {
      name,
      owner,
      severity: isOfOne ? 'degraded' : severity,
      failures: { ...subject, reason, failed, ended, accounts: accountsOf('failed', group) },
    },
  ];
}

/** Whether one account may have done it to itself: of the others' sends, some are delivered, and a lower share than this fails. */
function isOfOneAccount(
  group: readonly TrafficCount[],
  all: readonly TrafficCount[],
  failingShare: number,
): boolean {
  const { delivered, failed } = endedOfOthers(group, all);
  return delivered > 0 && failed / (delivered + failed) < failingShare;
}

/** The share of codes that were late or failed by us from which on the alert DeliveryTooSlow rings. */
const LATE_SHARE = 0.3;

/** Whether so many codes were late or failed by us, and nearly all of them are one account's. */
export function isLateForOneAccount({ traffic }: Pick<HealthStatistics, 'traffic'>): boolean {
  const counts = (traffic?.fiveMinutes ?? []).flatMap((count): TrafficCount[] => {
    if (count.event === 'delivered')
      return [{ ...count, event: count.reason === 'late' ? 'failed' : 'delivered' }];
    return count.event === 'failed' && count.reason !== 'rejected_by_provider' ? [count] : [];
  });
  const { delivered, failed } = endOf(counts);
  return failed / (delivered + failed) >= LATE_SHARE && isOfOneAccount(counts, counts, LATE_SHARE);
}

/** How many accounts have sends that ended so. */
const accountsOf = (end: 'delivered' | 'failed', counts: readonly TrafficCount[]): number =>
  new Set(counts.filter(({ event }) => event === end).map(({ accountId }) => accountId)).size;

const receiptsLate: Check = ({ receipts }) =>
  found('receipts_late', severityOf(receipts?.oldestDueSeconds ?? 0, RECEIPT_SECONDS));

const retention: Check = ({ retention: overdue }) =>
  found('retention_behind', (overdue?.seconds ?? 0) >= OVERDUE_SECONDS ? 'degraded' : null);

const due: Check = ({ waiting }) =>
  found('sends_late', severityOf(waiting?.due.oldestSeconds ?? 0, DUE_SECONDS));

/**
 * Active senders have too little throughput for the sends that come, unless these wait for a language that none serves. Accounts take turns:
 * where only one waits that long, while sends of others are delivered, it is `degraded` at most, as in `failing`.
 */
const busy: Check = ({ waiting, senders: all, stoppedTemplates, traffic }) => {
  const isAnyActive = all?.some(({ state }) => state === 'active') ?? false;
  const isAnyUnserved = stoppedTemplates?.some(({ serving }) => serving === 0) ?? false;
  if (waiting === null || !isAnyActive || isAnyUnserved) return null;
  const { oldestSeconds, othersSeconds } = waiting.forSender;
  const areOthersServed =
    (othersSeconds ?? 0) < BUSY_SECONDS.failing && accountsOf('delivered', traffic?.fiveMinutes ?? []) > 1;
  const severity = severityOf(oldestSeconds ?? 0, BUSY_SECONDS);
  return found('senders_busy', severity && areOthersServed ? 'degraded' : severity);
};

const held: Check = ({ waiting }) => found('sends_held', (waiting?.held.count ?? 0) > 0 ? 'degraded' : null);

/** The SMTP server takes no mails, or took none for a day. */
const mail: Check = ({ mails }) =>
  found(
    'mail_not_sent',
    mails != null && ((mails.oldestSeconds ?? 0) >= MAIL_SECONDS || mails.givenUp > 0) ? 'degraded' : null,
  );

/** Causes before their consequences. */
const CHECKS: readonly Check[] = [
  postgresql,
  connections,
  redis,
  sweeper,
  queue,
  ofEachOwner(configuration),
  ofEachOwner(senders),
  ofEachOwner(templates),
  ofEachOwner(quality),
  provider,
  latency,
  webhooks,
  receiptsMissing,
  receiptsLate,
  failures,
  due,
  ofEachOwner(busy),
  held,
  retention,
  mail,
];
