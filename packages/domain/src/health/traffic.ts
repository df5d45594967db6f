import { hasArrived, isDelivering, type Send } from '../sends/send.js';

/** The counted events: accepted messages, sends that reached a phone or failed, receipts by status, and posts to the webhook. */
export type TrafficEvent =
  | 'accepted'
  | 'delivered'
  | 'failed'
  | `receipt_${'sent' | 'delivered' | 'read' | 'failed'}`
  | 'webhook';

/** The counted results of a post to the webhook. */
export type WebhookResult = 'accepted' | 'invalid_signature';

/** What is counted. A text that does not apply is empty. Each text has few possible values, and none is a phone number. */
export interface TrafficKey {
  event: TrafficEvent;
  /** ISO 3166, or `ZZ` for numbers without a country. */
  country: string;
  senderId: string;
  /** Set only for ended sends, which keeps the number of counts small. */
  accountId: string;
  /**
   * The failure reason of a failed send, `late` for one that arrived late, the kind of a `failed` receipt's error, `unmatched` for a
   * receipt without a send, or the result of a webhook.
   */
  reason: string;
}

export interface TrafficCount extends TrafficKey {
  count: number;
}

/**
 * Returns the events of a change of a live send's delivery. Each event occurs once per message or send. A failed send is not counted if its
 * code had already been verified or locked.
 */
export function trafficEvents(before: Send, after: Send): TrafficKey[] {
  if (after.mode !== 'live') return [];
  const key = (event: TrafficEvent, reason = ''): TrafficKey => ({
    event,
    country: after.country,
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

const isLate = ({ createdAt, deliveredAt, readAt }: Send): boolean =>
  Number(deliveredAt ?? readAt) - createdAt.getTime() > LATE_SECONDS * 1_000;
