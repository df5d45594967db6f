import { groupDeliveries, hasFewerDeliveries, type DeliveryGroup } from './deliveries.js';
import { countEvents, endedOfOthers, sumEnded, type RecentTraffic } from './endedSends.js';
import { FINDINGS, type CauseOf, type FindingName, type Owner, type Severity } from './findings.js';
import {
  NO_BACKLOG,
  type Backlog,
  type BlockedTemplate,
  type HealthStatistics,
  type SenderAccount,
  type SenderBlock,
  type SenderStatistics,
} from './healthStatistics.js';
import { FINDINGS_IN_PORTUGUESE } from './findingsInPortuguese.js';
import type { FailureReason, Locale } from '../sends/send.js';
import type { TrafficCount, WebhookResult } from './traffic.js';

export interface Finding {
  name: FindingName;
  cause: CauseOf<FindingName>;
  owner: Owner;
  severity: Severity;
  /** Set if an account's own senders are affected. Such a finding is `degraded` at most. */
  account?: SenderAccount;
  /** `serving`: the senders that still serve its language. */
  template?: BlockedTemplate & { serving: number };
  failures?: Failures;
  deliveries?: MissingDeliveries;
  /** Senders with their blocks. A block for a configuration fault may still be listed when the sender may send again. */
  blocks?: readonly (SenderBlock & { senderId: string; number: string })[];
  /** How many of the senders with blocks cannot send now, and how many senders there are. */
  blocked?: number;
  senders?: number;
  /** Numbers with low quality. */
  lowQuality?: readonly { senderId: string; number: string }[];
  /** Numbers with messages that Meta holds, and how many it held in the last hour. */
  holding?: readonly { senderId: string; number: string; messages: number }[];
}

/** The sends that failed in five minutes: all, or those to a country, from a sender, or for a reason. */
export interface Failures {
  country?: string;
  senderId?: string;
  /** The most frequent reason. */
  reason: FailureReason | '';
  failed: number;
  /** All ended sends, delivered or failed. */
  ended: number;
  /** Accounts with failed sends. */
  accounts: number;
}

/** The messages to a country or from a sender. */
export interface MissingDeliveries extends Pick<DeliveryGroup, 'lastDay' | 'weekBefore'> {
  country?: string;
  senderId?: string;
}

/** A finding in words: what is wrong, and what to do first. */
export interface FindingText {
  sentence: string;
  remedy: string;
}

/** Returns a finding in words, in each language. */
export function findingTexts({ name, cause }: Pick<Finding, 'name' | 'cause'>): Record<Locale, FindingText> {
  const { causes, remedy } = FINDINGS[name];
  const portuguese = FINDINGS_IN_PORTUGUESE[name];
  return {
    en: { sentence: causes[cause]!.sentence, remedy },
    'pt-BR': { sentence: portuguese[cause]!, remedy: portuguese['remedy']! },
  };
}

/** Returns the check that shows a finding, the sends that it delays, its texts, and whether only operators can end it. */
export function describeFinding(finding: Pick<Finding, 'name' | 'cause'>) {
  const { causes, needsOperator = false } = FINDINGS[finding.name];
  const { check, holdsUp } = causes[finding.cause]!;
  return { check, texts: findingTexts(finding), needsOperator, ...(holdsUp !== undefined && { holdsUp }) };
}

/** Returns what distinguishes findings of one name: account, cause, template, country, sender, reason or code. Empty for most. */
export function subjectOf({ name, cause, account, template, failures, deliveries, blocks }: Finding): string {
  const hasCauses = Object.keys(FINDINGS[name].causes).length > 1;
  const detail =
    (template && `${template.template} ${template.language}`) ??
    failures?.country ??
    failures?.senderId ??
    deliveries?.country ??
    deliveries?.senderId ??
    (cause === 'reason' ? failures?.reason : undefined) ??
    (cause === 'refused' ? faultCode(blocks![0]!) : undefined);
  return [account?.id, hasCauses ? cause : undefined, detail].filter((part) => part !== undefined).join(' ');
}

/** Returns when the first of a finding's blocks, or the status of its template, began (RFC 3339); null for all other findings. */
export function startOf({ blocks = [], template }: Finding): string | null {
  const starts = [...blocks.map(({ since }) => since), ...(template === undefined ? [] : [template.at])];
  return starts.toSorted()[0] ?? null;
}

const faultCode = ({ errorCode, reason }: SenderBlock): string => String(errorCode ?? reason);

interface Thresholds {
  degraded: number;
  failing: number;
}

/** Milliseconds until a response; PostgreSQL and Redis usually need one or two. */
const RESPONSE_MS: Thresholds = { degraded: 200, failing: 1_000 };
/** Shares of the connections that PostgreSQL allows. */
const CONNECTIONS: Thresholds = { degraded: 0.8, failing: 0.95 };
/** Workers report the last runs of their loops every five seconds. */
const LOOP_SECONDS: Thresholds = { degraded: 10, failing: 20 };
/** Workers claim a due send within moments, and a new send without a job after two seconds. */
const DUE_SECONDS: Thresholds = { degraded: 5, failing: 15 };
const RECEIPT_SECONDS: Thresholds = { degraded: 15, failing: 60 };
/** Retention runs every minute. Privacy notices promise retention in days, so data that is a day overdue breaks a promise. */
const OVERDUE_SECONDS = 86_400;
/** Shares of failed calls to the provider, judged only for at least `CALLS_MIN` calls. */
const FAILING_CALLS: Thresholds = { degraded: 0.1, failing: 0.5 };
const CALLS_MIN = 5;
/** The provider responds in less than a second; workers time out after ten. */
const LATENCY_SECONDS: Thresholds = { degraded: 3, failing: 8 };
/** Shares of the accepted messages without any receipt, judged only for at least `ACCEPTED_MIN` messages. Receipts take seconds. */
const UNREPORTED: Thresholds = { degraded: 0.5, failing: 0.9 };
const ACCEPTED_MIN = 20;
/**
 * The finding requires that Meta held at least this many messages of a sender in the last hour, the first and the last at least a quarter
 * of an hour apart.
 */
const HELD_MIN = 5;
const HELD_SECONDS = 900;
/** Fewer webhooks with a wrong signature are not reported, because anyone can post one. */
const REJECTED_MIN = 5;
/**
 * Shares of the ended sends that failed, judged only for at least `ENDED_MIN` sends. In some countries, up to a fifth of the sends fail,
 * because many numbers have no WhatsApp.
 */
const FAILED: Thresholds = { degraded: 0.3, failing: 0.5 };
/** The same shares for reasons that no recipient can cause. */
const FAILED_BY_US: Thresholds = { degraded: 0.05, failing: 0.2 };
const ENDED_MIN = 10;
/** The maximum number of countries, and of senders, for which there are findings. */
const NAMED_MAX = 3;
/** How long a send may wait while senders are available. */
const BUSY_SECONDS: Thresholds = { degraded: 10, failing: 60 };
/** How long an email may wait: an SMTP server may ask for another attempt a few minutes later. */
const MAIL_SECONDS = 300;

/**
 * Findings that are consequences of another one. They are hidden while the other one is shown. deploy/prometheus/alerts.yml also waits
 * until workers have caught up.
 */
const CONSEQUENCES: Partial<Record<FindingName, readonly FindingName[]>> = {
  postgresql_unavailable: ['workers_behind', 'insufficient_senders'],
  no_workers: ['workers_behind', 'insufficient_senders'],
  webhooks_rejected: ['receipts_missing', 'deliveries_missing'],
  receipts_missing: ['deliveries_missing'],
};

type Rule = (statistics: HealthStatistics) => Finding[];

/** Returns all findings: failing ones before degraded ones, and causes before their consequences. */
export function healthFindings(statistics: HealthStatistics): Finding[] {
  const all = RULES.flatMap((rule) => rule(statistics));
  const consequences = new Set(all.flatMap(({ name }) => CONSEQUENCES[name] ?? []));
  const findings = all.filter(({ name }) => !consequences.has(name));
  return [
    ...findings.filter(({ severity }) => severity === 'failing'),
    ...findings.filter(({ severity }) => severity === 'degraded'),
  ];
}

/** Returns a list with the finding; an empty list if the severity is null. */
function found<Name extends FindingName>(
  name: Name,
  cause: CauseOf<Name>,
  severity: Severity | null,
  details: Partial<Finding> = {},
): Finding[] {
  if (severity === null) return [];
  return [{ name, cause, owner: FINDINGS[name].owners[0], severity, ...details }];
}

/** Returns the severity of a value that should be low; null if it is low enough. */
function judgeValue(value: number, { degraded, failing }: Thresholds): Severity | null {
  if (value >= failing) return 'failing';
  return value >= degraded ? 'degraded' : null;
}

const postgresql: Rule = ({ postgresqlMs, connections, ...statistics }) => {
  if (postgresqlMs === null) return found('postgresql_unavailable', 'unavailable', 'failing');
  const { waiting, provider, receipts, traffic } = statistics;
  const isLate = [connections, waiting, provider, receipts, traffic].includes(null);
  const slow = judgeValue(postgresqlMs, RESPONSE_MS) ?? (isLate ? 'degraded' : null);
  const full = connections && judgeValue(connections.used / connections.most, CONNECTIONS);
  return full === null
    ? found('postgresql_overloaded', 'slow', slow)
    : found('postgresql_overloaded', 'connections', full);
};

const redis: Rule = ({ redisMs, queues }) => {
  if (redisMs === null || queues === null) return found('redis_unhealthy', 'unavailable', 'degraded');
  return found('redis_unhealthy', 'slow', redisMs >= RESPONSE_MS.degraded ? 'degraded' : null);
};

const workers: Rule = ({ workers: running, loops, waiting, receipts, retention }) => [
  ...found('no_workers', 'none', running === 0 ? 'failing' : null),
  ...found('workers_behind', 'loops', loops && judgeValue(secondsSinceLoops(loops), LOOP_SECONDS)),
  ...found('workers_behind', 'sends', judgeValue(waiting?.due.oldestSeconds ?? 0, DUE_SECONDS)),
  ...found('workers_behind', 'receipts', judgeValue(receipts?.oldestDueSeconds ?? 0, RECEIPT_SECONDS)),
  ...found('workers_behind', 'retention', (retention?.seconds ?? 0) >= OVERDUE_SECONDS ? 'degraded' : null),
];

/**
 * Returns the seconds since any worker last ran the two loops that deliveries need, for the loop that ran longer ago; infinite if one of
 * them never ran.
 */
function secondsSinceLoops(loops: NonNullable<HealthStatistics['loops']>): number {
  const ages = ['deliver', 'sweep'].map((name) =>
    Math.min(...loops.filter(({ loop }) => loop === name).map(({ secondsAgo }) => secondsAgo)),
  );
  return Math.max(...ages);
}

const paused: Rule = ({ queues, waiting }) => [
  ...found('paused_by_operator', 'hold', (waiting?.held.count ?? 0) > 0 ? 'degraded' : null),
  ...found('paused_by_operator', 'queue', queues?.some(({ isPaused }) => isPaused) ? 'degraded' : null),
];

/** Senders that serve the same accounts, and the sends that wait for them. */
interface Pool {
  /** The account that owns the senders; undefined for senders that all accounts share. */
  account: SenderAccount | undefined;
  senders: readonly SenderStatistics[];
  waiting: Backlog;
}

/**
 * Returns the findings about senders, for each pool separately. Findings about an account's own senders are `degraded` at most: only the
 * account can fix them.
 */
const senders: Rule = (statistics) =>
  groupByPool(statistics).flatMap((pool) => {
    const findings = [
      ...misconfigured(pool),
      ...blockedSenders(pool),
      ...templates(pool),
      ...quality(pool),
      ...heldMessages(pool),
      ...capacity(pool, statistics.traffic?.fiveMinutes ?? []),
    ];
    const { account } = pool;
    return account === undefined
      ? findings
      : findings.map((finding): Finding => ({ ...finding, severity: 'degraded', account }));
  });

function groupByPool({ senders: all, waiting, ownWaiting }: HealthStatistics): Pool[] {
  if (all === null) return [];
  const accounts = new Map(
    [...all, ...(ownWaiting ?? [])].flatMap(({ account }) => (account ? [[account.id, account]] : [])),
  );
  const own = [...accounts.values()].map((account) => ({
    account,
    senders: all.filter((sender) => sender.account?.id === account.id),
    waiting: ownWaiting?.find((one) => one.account.id === account.id)?.waiting ?? NO_BACKLOG,
  }));
  const shared = all.filter(({ account }) => account === null);
  return [{ account: undefined, senders: shared, waiting: waiting?.forSender ?? NO_BACKLOG }, ...own];
}

type Blocks = NonNullable<Finding['blocks']>;

/** Returns the blocks of senders that match. */
const blocksOf = (
  senders: readonly SenderStatistics[],
  matches: (block: SenderBlock, index: number, blocks: readonly SenderBlock[]) => boolean,
): Blocks =>
  senders.flatMap(({ id, number, blocks }) =>
    blocks.filter(matches).map((block) => ({ ...block, senderId: id, number })),
  );

/** Returns the details of a finding that describe the senders of a pool. */
function describeSenders(pool: Pool, blocks: Blocks): Pick<Finding, 'blocks' | 'blocked' | 'senders'> {
  const named = new Set(blocks.map(({ senderId }) => senderId));
  const blocked = pool.senders.filter(({ id, state }) => named.has(id) && state !== 'active').length;
  return { blocks, blocked, senders: pool.senders.length };
}

/** Groups blocks; each group has at least one. */
const groupBlocks = (blocks: Blocks, getKey: (block: SenderBlock) => string): Blocks[] =>
  [...new Set(blocks.map(getKey))].map((key) => blocks.filter((block) => getKey(block) === key));

/** Returns a finding for each error code. A template that the provider blocks has its own finding instead. */
function misconfigured(pool: Pool): Finding[] {
  const faults = blocksOf(
    pool.senders,
    ({ isConfiguration, onlyFor }, _, blocks) =>
      isConfiguration && !blocks.some((block) => block.template !== null && block.onlyFor === onlyFor),
  );
  return groupBlocks(faults, faultCode).flatMap((blocks) =>
    found('sender_misconfigured', 'refused', 'failing', describeSenders(pool, blocks)),
  );
}

const BLOCKED_BY = [
  ['provider', 'senders_blocked', 'provider'],
  ['fault', 'senders_blocked', 'fault'],
  ['operator', 'paused_by_operator', 'senders'],
] as const;

/**
 * Returns findings about senders that send nothing, grouped by the cause of their block. Configuration faults have findings of their own.
 */
function blockedSenders(pool: Pool): Finding[] {
  const inactive = pool.senders.filter(({ state }) => state !== 'active');
  const severity = inactive.length === pool.senders.length ? 'failing' : 'degraded';
  const blocks = blocksOf(inactive, ({ isConfiguration }, index) => index === 0 && !isConfiguration);
  return BLOCKED_BY.flatMap(([by, name, cause]) => {
    const own = blocks.filter((block) => block.cause === by);
    return found(name, cause, own.length > 0 ? severity : null, describeSenders(pool, own));
  });
}

/** Returns a finding for each template that the provider blocks: `failing` if no sender serves its language. */
function templates(pool: Pool): Finding[] {
  const blocked = blocksOf(pool.senders, ({ template }) => template !== null);
  return groupBlocks(blocked, (block) => `${block.template?.template} ${block.onlyFor}`).flatMap((blocks) => {
    const serving = countServing(pool, blocks[0]!.onlyFor);
    const template = { ...blocks[0]!.template!, serving };
    const more = { template, ...describeSenders(pool, blocks) };
    return found('senders_blocked', 'template', serving === 0 ? 'failing' : 'degraded', more);
  });
}

/** Returns how many senders can send in a language. */
const countServing = ({ senders: all }: Pool, locale: string): number =>
  all.filter(({ state, blocks }) => state === 'active' && blocks.every(({ onlyFor }) => onlyFor !== locale))
    .length;

function quality({ senders: all }: Pool): Finding[] {
  const lowQuality = all
    .filter(({ hasLowQuality }) => hasLowQuality)
    .map(({ id, number }) => ({ senderId: id, number }));
  return found('sender_quality_low', 'quality', lowQuality.length > 0 ? 'degraded' : null, { lowQuality });
}

/** Returns a finding if Meta keeps holding the messages of senders. */
function heldMessages({ senders: all }: Pool): Finding[] {
  const holding = all
    .filter(({ heldMessages: held }) => held.lastHour >= HELD_MIN && held.lastHourSeconds >= HELD_SECONDS)
    .map(({ id, number, heldMessages: held }) => ({ senderId: id, number, messages: held.lastHour }));
  return found('messages_held', 'held', holding.length > 0 ? 'degraded' : null, { holding });
}

/**
 * Returns a finding if sends wait too long for active senders that serve their language. It is `degraded` at most if only one account waits
 * too long and messages of several accounts were delivered, because accounts take turns.
 */
function capacity(pool: Pool, traffic: readonly TrafficCount[]): Finding[] {
  const { senders: all, waiting } = pool;
  if (all.length === 0) return found('insufficient_senders', 'none', waiting.count > 0 ? 'failing' : null);
  const isUnserved = ({ onlyFor }: SenderBlock): boolean =>
    (onlyFor === 'en' || onlyFor === 'pt-BR') && countServing(pool, onlyFor) === 0;
  if (all.every(({ state }) => state !== 'active') || blocksOf(all, isUnserved).length > 0) return [];
  const areOthersServed =
    (waiting.othersSeconds ?? 0) < BUSY_SECONDS.failing && countAccounts('delivered', traffic) > 1;
  const severity = judgeValue(waiting.oldestSeconds ?? 0, BUSY_SECONDS);
  return found('insufficient_senders', 'busy', severity && areOthersServed ? 'degraded' : severity);
}

const provider: Rule = ({ provider: calls }) =>
  calls === null
    ? []
    : [
        ...found(
          'provider_unhealthy',
          'errors',
          calls.calls < CALLS_MIN ? null : judgeValue(calls.failing / calls.calls, FAILING_CALLS),
        ),
        ...found('provider_unhealthy', 'slow', judgeValue(calls.secondsP95 ?? 0, LATENCY_SECONDS)),
      ];

/** Returns the severity of missing receipts. Each message should have at least one: `sent`, or a later one. */
function missingReceipts({ twoMinutes }: RecentTraffic): Severity | null {
  const counted = (event: TrafficCount['event']): number => countEvents(twoMinutes, event);
  const accepted = counted('accepted');
  if (accepted < ACCEPTED_MIN) return null;
  const reported = Math.max(
    counted('receipt_sent'),
    counted('receipt_delivered') + counted('receipt_failed'),
    counted('receipt_read'),
  );
  return judgeValue(1 - reported / accepted, UNREPORTED);
}

/**
 * Returns findings about rejected webhooks and missing receipts. Rejected webhooks are `failing` only if receipts are missing, because
 * anyone can post a webhook. With few messages, one receipt that is two minutes late counts as missing if no other webhook was accepted.
 */
const webhooks: Rule = ({ traffic }) => {
  if (traffic === null) return [];
  const { fiveMinutes, twoMinutes } = traffic;
  const counted = (result: WebhookResult): number => countEvents(fiveMinutes, 'webhook', result);
  const isLate = countEvents(fiveMinutes, 'accepted') > countEvents(twoMinutes, 'accepted');
  const missing = missingReceipts(traffic);
  const isCause = missing !== null || (counted('accepted') === 0 && isLate);
  const rejected = isCause ? 'failing' : 'degraded';
  return [
    ...found('webhooks_rejected', 'signature', counted('invalid_signature') < REJECTED_MIN ? null : rejected),
    ...found('receipts_missing', 'missing', missing),
  ];
};

/** Returns findings about countries and senders with fewer delivered messages than in the week before, most messages first. */
const deliveries: Rule = ({ deliveries: counts }) =>
  (['country', 'senderId'] as const).flatMap((by) =>
    groupDeliveries(counts ?? [], by)
      .filter(hasFewerDeliveries)
      .slice(0, NAMED_MAX)
      .flatMap(({ name, ...group }) =>
        found('deliveries_missing', by === 'country' ? 'country' : 'sender', 'degraded', {
          deliveries: { [by]: name, ...group },
        }),
      ),
  );

/**
 * Returns findings about the share of failed sends: of all, by reason, by country and by sender. While any send is held, expired codes are
 * not counted.
 */
const failures: Rule = ({ traffic, waiting }) => {
  const isHeld = (waiting?.held.count ?? 0) > 0;
  const all = (traffic?.fiveMinutes ?? []).filter(
    ({ event, reason }) =>
      event === 'delivered' || (event === 'failed' && !(isHeld && reason === 'expired_before_delivery')),
  );
  return [
    ...failing('all', all, all),
    ...OWN_REASONS.flatMap((reason) => {
      const isOther = (count: TrafficCount): boolean => count.event === 'failed' && count.reason !== reason;
      const counts = all.map((count) => (isOther(count) ? { ...count, event: 'delivered' as const } : count));
      return failing('reason', counts, counts, {}, FAILED_BY_US);
    }),
    ...mostFailing('country', all, 'country'),
    ...mostFailing('sender', all, 'senderId'),
  ];
};

/** Reasons that no recipient can cause. A rejection by the provider is not one of them, because it may be the recipient's fault. */
const OWN_REASONS: readonly FailureReason[] = ['expired_before_delivery', 'attempts_exhausted'];

type FailureCause = CauseOf<'sends_failing'>;

/** Returns findings for the countries or senders with too many failed sends, most failures first. */
function mostFailing(
  cause: FailureCause,
  counts: readonly TrafficCount[],
  by: 'country' | 'senderId',
): Finding[] {
  const groups = new Set(counts.map((count) => count[by]).filter((group) => group !== ''));
  const membersOf = (group: string) => counts.filter((count) => count[by] === group);
  return [...groups]
    .flatMap((group) => failing(cause, membersOf(group), counts, { [by]: group }))
    .toSorted((a, b) => b.failures!.failed - a.failures!.failed)
    .slice(0, NAMED_MAX);
}

/** Returns the finding for a group of ended sends: `degraded` at most if one account may have caused it. */
function failing(
  cause: FailureCause,
  group: readonly TrafficCount[],
  all: readonly TrafficCount[],
  subject: Pick<Failures, 'country' | 'senderId'> = {},
  thresholds = FAILED,
): Finding[] {
  const { delivered, failed, reason } = sumEnded(group);
  const ended = delivered + failed;
  const severity = ended < ENDED_MIN ? null : judgeValue(failed / ended, thresholds);
  const isOfOne = isOfOneAccount(group, all, thresholds.failing);
  return found('sends_failing', cause, severity && isOfOne ? 'degraded' : severity, {
    owner: reason === 'expired_before_delivery' ? 'us' : 'meta',
    failures: { ...subject, reason, failed, ended, accounts: countAccounts('failed', group) },
  });
}

/**
 * Returns whether one account may have caused a finding: without the account with the most failures, too few sends fail for the severity
 * `failing`.
 */
function isOfOneAccount(
  group: readonly TrafficCount[],
  all: readonly TrafficCount[],
  failingShare: number,
): boolean {
  const { delivered, failed } = endedOfOthers(group, all);
  return delivered > 0 && failed / (delivered + failed) < failingShare;
}

/** The alert DeliveryTooSlow fires when this share of codes was late or failed because of the service. */
const LATE_SHARE = 0.3;

/**
 * Returns whether at least `LATE_SHARE` of the codes were late or failed because of the service, but less than `LATE_SHARE` without the
 * account that has the most such codes.
 */
export function isLateForOneAccount({ traffic }: Pick<HealthStatistics, 'traffic'>): boolean {
  const counts = (traffic?.fiveMinutes ?? []).flatMap((count): TrafficCount[] => {
    if (count.event === 'delivered')
      return [{ ...count, event: count.reason === 'late' ? 'failed' : 'delivered' }];
    return count.event === 'failed' && count.reason !== 'rejected_by_provider' ? [count] : [];
  });
  const { delivered, failed } = sumEnded(counts);
  return failed / (delivered + failed) >= LATE_SHARE && isOfOneAccount(counts, counts, LATE_SHARE);
}

/** Returns how many accounts have sends that ended this way. */
const countAccounts = (end: 'delivered' | 'failed', counts: readonly TrafficCount[]): number =>
  new Set(counts.filter(({ event }) => event === end).map(({ accountId }) => accountId)).size;

/** Returns a finding if the SMTP server accepts no emails, or if some were given up after a day. */
const mail: Rule = ({ mails }) => {
  const isFailing = mails !== null && ((mails.oldestSeconds ?? 0) >= MAIL_SECONDS || mails.givenUp > 0);
  return found('mail_failing', 'mail', isFailing ? 'degraded' : null);
};

/** Causes before their consequences. */
const RULES: readonly Rule[] = [
  postgresql,
  redis,
  senders,
  provider,
  webhooks,
  deliveries,
  failures,
  workers,
  paused,
  mail,
];
