import type { Locale } from '../sends/send.js';

/** A fact reported by the provider. Times are RFC 3339. */
export interface Fact<Value> {
  value: Value;
  /** When the provider reported it last. */
  at: string;
  /** When the provider first reported this value. */
  since: string;
}

/** The known facts about one subject. Facts that were never reported are missing. */
export type Facts<Values> = { [Name in keyof Values]?: Fact<Values[Name]> };

/** One language of a message template. The values are the provider's. */
export interface TemplateValues {
  status: string;
  category: string;
  /** The category that the provider announced for it; null without one. */
  nextCategory: string | null;
  quality: string;
  /** The reason of its status, if the provider reports one. */
  reason: string | null;
  /** Seconds after which an undelivered message is dropped; null for the provider's default. */
  ttlSeconds: number | null;
  /** The lifetime of a code in its footer; null without a footer. */
  codeExpirationMinutes: number | null;
  /** Whether it has a copy-code, one-tap or zero-tap button. All three take the same message. */
  hasCodeButton: boolean;
}

export type CanSend = 'AVAILABLE' | 'LIMITED' | 'BLOCKED';

export interface NumberValues {
  quality: string;
  status: string;
  /** `TIER_250` and so on: how many people all numbers of a business portfolio together may message in 24 hours. */
  messagingLimit: string;
  throughputLevel: string;
  /** Whether it is also in the WhatsApp Business app, where Meta accepts only `THROUGHPUT_ON_BUSINESS_APP` messages a second. */
  isOnBusinessApp: boolean;
  /**
   * Whether the provider lets it send: the worst state of the number, its business account, its portfolio and the app. `why` is the
   * provider's reason if it may not send, or only with restrictions.
   */
  canSend: { can: CanSend; why: string | null };
  /** The access token: whether it is valid, its permissions, and its expiry (Unix seconds; 0 for never). */
  token: { isValid: boolean; scopes: string[]; expiresAt: number };
}

/** Messages a second that Meta accepts from a number that is also in the WhatsApp Business app. Source: Meta, "Throughput". */
export const THROUGHPUT_ON_BUSINESS_APP = 20;

export interface BusinessAccountValues {
  /** The event that banned, restricted, deleted or disconnected it; null after an event that ended such a state. */
  refusal: string | null;
  verification: string;
  /** Whether our app receives its webhooks. */
  isSubscribed: boolean;
}

/** What the provider reported about a business account, in its words, such as an alert or a violation. Onecode only shows it. */
export interface BusinessAccountAlert {
  type: string;
  severity: string | null;
  detail: string | null;
}

/** A provider report about a business account or a part of it. */
export interface ProviderReport {
  template?: { name: string; language: string; values: Reported<TemplateValues> };
  /** About all its numbers, because they share a messaging limit. */
  numbers?: Pick<Reported<NumberValues>, 'messagingLimit'>;
  businessAccount?: Reported<BusinessAccountValues>;
  alert?: BusinessAccountAlert;
}

/** A provider report from a webhook, with the business account that it is about. */
export interface ProviderChange {
  businessAccountId: string;
  report: ProviderReport;
  occurredAt: Date;
}

/** The values in a report; values that it does not contain are missing or undefined. */
export type Reported<Values> = { [Name in keyof Values]?: Values[Name] | undefined };

/** Returns the facts after a report. Reports arrive in any order: a fact stays if the report is older. */
export function mergeFacts<Values extends object>(
  known: Facts<Values>,
  report: Reported<Values>,
  at: Date,
): Facts<Values> {
  const merged = { ...known };
  const reportedAt = at.toISOString();
  for (const name of Object.keys(report) as (keyof Values)[]) {
    const value = report[name];
    const last = known[name];
    if (value === undefined || (last !== undefined && reportedAt < last.at)) continue;
    const isSame = last !== undefined && JSON.stringify(last.value) === JSON.stringify(value);
    merged[name] = { value, at: reportedAt, since: isSame ? last.since : reportedAt };
  }
  return merged;
}

/** Statuses in which the provider rejects a template's messages. The provider may add other statuses, which only failed calls reveal. */
const BLOCKED_STATUSES = new Set([
  'PAUSED',
  'DISABLED',
  'REJECTED',
  'ARCHIVED',
  'LOCKED',
  'PENDING',
  'IN_APPEAL',
  'LIMIT_EXCEEDED',
  'PENDING_DELETION',
  'DELETED',
]);

/** The category of one-time codes. */
export const CODE_CATEGORY = 'AUTHENTICATION';

/** Returns why the provider would reject messages of a template; null if no fact indicates a rejection. */
export function templateBlock({ status, category, reason }: Facts<TemplateValues>): string | null {
  if (status !== undefined && BLOCKED_STATUSES.has(status.value))
    return reason?.value ? `${status.value} (${reason.value})` : status.value;
  if (category !== undefined && category.value !== CODE_CATEGORY) return `category ${category.value}`;
  return null;
}

/**
 * Returns the provider's word for why it would reject all messages of a sender, according to the known facts about its number and business
 * account; null if no fact indicates a rejection. The newer report counts: a read or an event may be the first to show that a state has ended.
 */
export function senderBlock(
  { canSend }: Facts<NumberValues>,
  { refusal }: Facts<BusinessAccountValues>,
): string | null {
  if (refusal !== undefined && (canSend === undefined || refusal.at >= canSend.at)) return refusal.value;
  return canSend?.value.can === 'BLOCKED' ? (canSend.value.why ?? canSend.value.can) : null;
}

/** Returns the languages of a sender's messages by locale, in the provider's format. */
export function templateLanguages(englishTemplateLanguage: 'en' | 'en_US'): Record<Locale, string> {
  return { 'pt-BR': 'pt_BR', en: englishTemplateLanguage };
}

/**
 * Returns how many people may be messaged in 24 hours, from the provider's name of the limit, such as `TIER_2K`; null for an unknown name.
 * Source: Meta, "Messaging limits" (portfolio limits, October 2025).
 */
export function parseMessagingLimit(name: string | undefined): number | null {
  if (name === 'TIER_UNLIMITED') return Infinity;
  const [, digits, thousands] = /^TIER_([0-9]{1,9})(K?)$/.exec(name ?? '') ?? [];
  return digits === undefined ? null : Number(digits) * (thousands === 'K' ? 1_000 : 1);
}

/** The provider's reports about a sender, its business account and its template, with their age. */
export interface SenderKnowledge {
  senderId: string;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  number: Facts<NumberValues>;
  businessAccount: Facts<BusinessAccountValues>;
  /** Newest first, with their times (RFC 3339). */
  alerts: (BusinessAccountAlert & { at: string })[];
  /** The languages of its template. */
  templates: { language: string; facts: Facts<TemplateValues> }[];
  /** When the last read started. */
  triedAt: Date | null;
  /** When the last read that got the data of the number started. Other parts of it may have failed. */
  readAt: Date | null;
  /** Why parts of the last read failed. */
  failures: SenderReading['failures'];
  /** The recipients that the senders of its portfolio had in the 24 hours before the last read. */
  recipients24h: number | null;
}

/** The results of reading a sender from the provider. The values of a part that failed are missing. */
export interface SenderReading {
  businessAccountId: string | null;
  /** The id of the business portfolio that owns the business account. */
  portfolioId: string | null;
  number: Reported<NumberValues>;
  businessAccount: Reported<BusinessAccountValues>;
  /** All languages of the sender's template; null if they could not be read. */
  templates: { language: string; values: Reported<TemplateValues> }[] | null;
  /** Why parts failed. */
  failures: Partial<Record<ReadPart, string>>;
}

/** The parts of a read, each of which may fail. */
export type ReadPart = 'number' | 'token' | 'businessAccount' | 'subscription' | 'templates';
