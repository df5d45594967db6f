import { NO_COUNTRY } from '../recipients/recipient.js';
import { isDelivering, type FailureReason, type Send } from './send.js';

/** The counted events: accepted messages, sends that reached a phone or failed, receipts by status, and posts to the webhook. */
export const TRAFFIC_EVENTS = [
  'accepted',
  'delivered',
  'failed',
  'receipt_sent',
  'receipt_delivered',
  'receipt_read',
  'receipt_failed',
  'webhook',
] as const;
export type TrafficEvent = (typeof TRAFFIC_EVENTS)[number];

/** The results of a post to the webhook. */
export const WEBHOOK_RESULTS = ['accepted', 'invalid_signature', 'refused', 'failed'] as const;
export type WebhookResult = (typeof WEBHOOK_RESULTS)[number];

/** The fields of a send's delivery from which events are derived. */
export type DeliveryFacts = Pick<
  Send,
  | 'accountId'
  | 'mode'
  | 'status'
  | 'verification'
  | 'country'
  | 'senderId'
  | 'failureReason'
  | 'phase'
  | 'createdAt'
  | 'sentAt'
  | 'deliveredAt'
  | 'readAt'
>;

/** One thing to count. Texts are empty if they do not apply. Each has few values, and none is a phone number. */
export interface TrafficKey {
  event: TrafficEvent;
  /** ISO 3166, or `ZZ` for numbers without a country. */
  country: string;
  senderId: string;
  /** Set only for ended sends, so that there are fewer counts. */
  accountId: string;
  /**
   * The failure reason of a failed send, `late` for one that arrived late, the subject of the error of a `failed` receipt, or the result of
   * a webhook.
   */
  reason: string;
}

export interface TrafficCount extends TrafficKey {
  count: number;
}

/**
 * Returns the events of a change of a live send's delivery. Each event occurs once per message or send. A send with a code that was
 * finished before its message arrived is not counted as a failure.
 */
export function trafficEvents(before: DeliveryFacts, after: DeliveryFacts): TrafficKey[] {
  if (after.mode !== 'live') return [];
  const key = (event: TrafficEvent, reason = ''): TrafficKey => ({
    event,
    country: after.country ?? NO_COUNTRY,
    senderId: after.senderId ?? before.senderId ?? '',
    accountId: event === 'accepted' ? '' : after.accountId,
    reason,
  });
  const events: TrafficKey[] = [];
  if (isDelivering(before) && !isDelivering(after) && after.status !== 'failed') events.push(key('accepted'));
  if (!hasArrived(before) && hasArrived(after)) events.push(key('delivered', isLate(after) ? 'late' : ''));
  if (before.status !== 'failed' && after.status === 'failed' && after.verification === 'pending')
    events.push(key('failed', after.failureReason ?? ''));
  return events;
}

/** Seconds from the request within which a code should be on the phone: the objective in deploy/prometheus/alerts.yml. */
const LATE_SECONDS = 30;

const isLate = ({ createdAt, deliveredAt, readAt }: DeliveryFacts): boolean =>
  Number(deliveredAt ?? readAt) - createdAt.getTime() > LATE_SECONDS * 1_000;

/** Returns whether a receipt has confirmed that the message is on the recipient's phone. */
export const hasArrived = ({ status }: Pick<Send, 'status'>): boolean =>
  status === 'delivered' || status === 'read';

/** The counts of the last minutes that health findings read. */
export interface RecentTraffic {
  /** Sends that ended, accepted messages, and webhooks, of the last five minutes. */
  fiveMinutes: readonly TrafficCount[];
  /** Accepted messages and receipts of the last two minutes. */
  twoMinutes: readonly TrafficCount[];
}

/** Returns the sum of the matching counts. */
export function sumMatching(
  counts: readonly TrafficCount[],
  matches: (count: TrafficCount) => boolean,
): number {
  return counts.reduce((sum, count) => sum + (matches(count) ? count.count : 0), 0);
}

/** The ended sends of a country or a sender, or all of them. */
export interface EndedSends {
  delivered: number;
  failed: number;
  /** The reason of most of the failures. */
  reason: FailureReason | '';
}

/** Returns the counts of ended sends in groups. `groupOf` returns a count's group; '' is a group too. */
export function endedSends(
  counts: readonly TrafficCount[],
  groupOf: (count: TrafficCount) => string,
): Map<string, TrafficCount[]> {
  const groups = new Map<string, TrafficCount[]>();
  for (const count of counts) {
    if (count.event !== 'delivered' && count.event !== 'failed') continue;
    const members = groups.get(groupOf(count));
    if (members === undefined) groups.set(groupOf(count), [count]);
    else members.push(count);
  }
  return groups;
}

/** Returns the sum of ended sends. */
export function sumEnded(counts: readonly TrafficCount[]): EndedSends {
  return {
    delivered: sumMatching(counts, ({ event }) => event === 'delivered'),
    failed: sumMatching(counts, ({ event }) => event === 'failed'),
    reason: findMost(counts, 'reason') as EndedSends['reason'],
  };
}

/** Returns the reason or the account of most failed sends; '' without any. */
function findMost(counts: readonly TrafficCount[], by: 'reason' | 'accountId'): string {
  const failed = new Map<string, number>();
  for (const { event, count, [by]: name } of counts)
    if (event === 'failed') failed.set(name, (failed.get(name) ?? 0) + count);
  const [most = ['', 0]] = [...failed].toSorted(([, a], [, b]) => b - a);
  return most[0];
}

/**
 * Returns the group's ended sends without the account with the most failures; if that leaves none, the ended sends of all other accounts.
 *
 * @param all all counts, also of other groups
 */
export function endedOfOthers(group: readonly TrafficCount[], all: readonly TrafficCount[]): EndedSends {
  const most = findMost(group, 'accountId');
  const withoutMost = (counts: readonly TrafficCount[]): TrafficCount[] =>
    counts.filter(({ accountId }) => accountId !== most);
  const others = withoutMost(group);
  return sumEnded(others.length > 0 ? others : withoutMost(all));
}
