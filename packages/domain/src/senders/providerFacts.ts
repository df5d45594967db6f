import type { Locale } from '../sends/send.js';

/** Something that the provider said, when, and how we know: its webhook or our read. `at` is an RFC 3339 time. */
export interface Fact<Value> {
  value: Value;
  at: string;
  source: FactSource;
}

export type FactSource = 'webhook' | 'read';

/** What the provider said of one subject; what it never said is left out. */
export type Facts<Values> = { [Name in keyof Values]?: Fact<Values[Name]> };

/** One language of a message template. The words are the provider's own. */
export interface TemplateValues {
  status: string;
  category: string;
  /** The category that the provider is going to put it in; null where it announces none. */
  nextCategory: string | null;
  quality: string;
  /** Why it has its status, where the provider says so. */
  reason: string | null;
  /** Seconds after which an undelivered message is dropped; null is the provider's usual time. */
  ttlSeconds: number | null;
  /** What its footer says about the code; null without a footer. */
  codeExpirationMinutes: number | null;
  hasCopyCodeButton: boolean;
}

export type CanSend = 'AVAILABLE' | 'LIMITED' | 'BLOCKED';

export interface NumberValues {
  quality: string;
  status: string;
  /** `TIER_250` and so on: the people that a business portfolio may write to in 24 hours, shared by all of its numbers. */
  messagingLimit: string;
  throughputLevel: string;
  /** Whether the provider lets it send, and its words where it does not wholly. */
  canSend: { can: CanSend; why: string | null };
  portfolioId: string;
  /** The access token: whether it is accepted, what it may do, and when it ends (Unix seconds; 0 never). */
  token: { isValid: boolean; scopes: string[]; expiresAt: number };
}

export interface BusinessAccountValues {
  /** `DISABLE`, `SCHEDULE_FOR_DISABLE` or `REINSTATE`. */
  ban: string;
  /** Kinds of restriction with their ends in Unix seconds, null without one; none is an end of all. */
  restrictions: { kind: string; until: number | null }[];
  isDeleted: boolean;
  review: string;
  verification: string;
  canSend: { can: CanSend; why: string | null };
  /** Whether our app gets its webhooks. */
  isSubscribed: boolean;
}

/** Something that the provider said of a business account without an effect here, in words of its own: an alert, a violation. */
export interface BusinessAccountAlert {
  type: string;
  severity: string | null;
  detail: string | null;
}

/** RFC 3339 with the alert. */
export type DatedAlert = BusinessAccountAlert & { at: string };

const ALERTS_MAX = 50;

/** The alerts of a business account with more of one moment: newest first, each once, and no more than so many. */
export function mergeAlerts(
  known: readonly DatedAlert[],
  alerts: readonly BusinessAccountAlert[],
  at: Date,
): DatedAlert[] {
  const told = alerts.map((alert) => ({ ...alert, at: at.toISOString() }));
  const isSame = (one: DatedAlert, other: DatedAlert): boolean =>
    (['type', 'severity', 'detail', 'at'] as const).every((name) => one[name] === other[name]);
  return [...told, ...known.filter((one) => !told.some((other) => isSame(one, other)))]
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, ALERTS_MAX);
}

/** What the provider said, of whom. */
export type ProviderReport =
  | { about: 'template'; name: string; language: string; values: Partial<TemplateValues> }
  | { about: 'number'; displayNumber: string; values: Partial<NumberValues> }
  | { about: 'all_numbers'; values: Partial<NumberValues> }
  | {
      about: 'business_account';
      values: Partial<BusinessAccountValues>;
      alerts: readonly BusinessAccountAlert[];
    };

/**
 * What is known after a report. Reports come in any order: each fact stays unless the report is newer. Webhooks have whole seconds, so
 * within a second the later one to come counts, and a read counts over a webhook only from the next second on.
 */
export function mergeFacts<Values extends object>(
  known: Facts<Values>,
  report: Partial<Values>,
  at: Date,
  source: FactSource,
): Facts<Values> {
  const merged = { ...known };
  for (const name of Object.keys(report) as (keyof Values)[]) {
    const value = report[name];
    if (value === undefined || !isNewer(known[name], at, source)) continue;
    merged[name] = { value, at: at.toISOString(), source };
  }
  return merged;
}

const secondOf = (at: Date): number => Math.floor(at.getTime() / 1000);

function isNewer(known: Fact<unknown> | undefined, at: Date, source: FactSource): boolean {
  if (known === undefined) return true;
  const knownAt = new Date(known.at);
  if (source === 'webhook') return secondOf(at) >= secondOf(knownAt);
  return known.source === 'read' ? at >= knownAt : secondOf(at) > secondOf(knownAt);
}

/** Whether Meta rates a number's quality as low: people block or report it. */
export const isOfLowQuality = ({ quality }: Facts<NumberValues>): boolean => quality?.value === 'RED';

/** Why a template or a sender must not be used, by the provider's word. */
export interface ProviderBlock {
  reason: string;
  /** The provider's own word for it. */
  word: string;
  /** When the provider said it. */
  at: Date;
  source: FactSource;
}

/** Statuses in which the provider refuses a template's messages. It may have words that are not here: calls tell of those. */
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

/** Why messages of a template would be refused, or null if nothing says so. */
export function templateBlock({ status, category, reason }: Facts<TemplateValues>): ProviderBlock | null {
  if (status !== undefined && BLOCKED_STATUSES.has(status.value)) {
    const why = reason?.value ? `${status.value} (${reason.value})` : status.value;
    return blockBy(status, why);
  }
  if (category !== undefined && category.value !== CODE_CATEGORY)
    return blockBy(category, `category ${category.value}`);
  return null;
}

/** What codes need: restrictions of other kinds leave them alone. */
const BLOCKING_RESTRICTION = 'RESTRICTED_BIZ_INITIATED_MESSAGING';

/** Why a sender would be refused, by what is known of its number and its business account at a moment; null if nothing says so. */
export function senderBlock(
  number: Facts<NumberValues>,
  account: Facts<BusinessAccountValues>,
  now: Date,
): ProviderBlock | null {
  const { ban, restrictions, isDeleted, canSend } = account;
  // A read that finds the account able to send is an end that no webhook told.
  const isCurrent = (fact: Fact<unknown>): boolean =>
    canSend === undefined || canSend.value.can === 'BLOCKED' || canSend.at <= fact.at;
  if (isDeleted?.value === true)
    return blockBy(isDeleted, 'Meta says that the business account was deleted.', 'DELETED');
  if (ban?.value === 'DISABLE' && isCurrent(ban))
    return blockBy(ban, 'Meta has disabled the business account.', ban.value);
  const restriction = restrictions?.value.find(
    ({ kind, until }) => kind === BLOCKING_RESTRICTION && (until === null || until * 1000 > now.getTime()),
  );
  if (restrictions !== undefined && restriction !== undefined && isCurrent(restrictions))
    return blockBy(
      restrictions,
      `Meta has restricted the business account: ${restriction.kind}.`,
      restriction.kind,
    );
  for (const fact of [canSend, number.canSend])
    if (fact?.value.can === 'BLOCKED') {
      const word = fact.value.why ?? fact.value.can;
      return blockBy(fact, `Meta says that it cannot send: ${word}`, word);
    }
  return null;
}

const blockBy = ({ at, source }: Fact<unknown>, reason: string, word = reason): ProviderBlock => ({
  reason,
  word,
  at: new Date(at),
  source,
});

/** Error codes by which a call tells a template's state. The provider's word that it is back ends such a block, and no other. */
export const TEMPLATE_STATE_CODES = [132001, 132015, 132016] as const;

/** Error codes by which a call tells that the token is not taken, or lacks a right; so do those from 200 to 299, and access denied without a code. */
export const TOKEN_CODES = [0, 3, 10, 104, 190, 131005] as const;

/** What a token needs for sending. */
const MESSAGING_SCOPE = 'whatsapp_business_messaging';

/**
 * Whether a read is the first that finds a sender's token good: another token, or one that was mended at the provider. It ends what calls
 * met because of the token before. Later reads end nothing: what calls meet all the same, they cannot see.
 *
 * @param known what was read before of the same token
 */
export function isTokenMended(
  known: NumberValues['token'] | undefined,
  read: NumberValues['token'],
): boolean {
  const isGood = ({ isValid, scopes }: NumberValues['token']): boolean =>
    isValid && scopes.includes(MESSAGING_SCOPE);
  return isGood(read) && (known === undefined || !isGood(known));
}

/** The languages in which a sender's messages go out, by locale, as the provider writes them. */
export function templateLanguages(englishTemplateLanguage: 'en' | 'en_US'): Record<Locale, string> {
  return { 'pt-BR': 'pt_BR', en: englishTemplateLanguage };
}

/** People in 24 hours, by the provider's name of the limit. Source: Meta, "Messaging limits" (portfolio limits, October 2025). */
const MESSAGING_LIMITS: Readonly<Record<string, number>> = {
  TIER_50: 50,
  TIER_250: 250,
  TIER_1K: 1_000,
  TIER_2K: 2_000,
  TIER_10K: 10_000,
  TIER_100K: 100_000,
  TIER_UNLIMITED: Infinity,
};

/** How many people may be written to in 24 hours, or null for a limit that we do not know. */
export function messagingLimitOf(name: string | undefined): number | null {
  return name === undefined ? null : (MESSAGING_LIMITS[name] ?? null);
}

/** The name of a limit that is told as a number, where -1 is unlimited. */
export function messagingLimitName(most: number): string | null {
  if (most === -1) return 'TIER_UNLIMITED';
  return Object.entries(MESSAGING_LIMITS).find(([, limit]) => limit === most)?.[0] ?? null;
}

/** What a read found out about a sender. A part that failed says why instead. */
export interface SenderReading {
  businessAccountId: Part<string>;
  number: Part<Partial<NumberValues>>;
  token: Part<NumberValues['token']>;
  businessAccount: Part<Partial<BusinessAccountValues>>;
  subscription: Part<boolean>;
  /** All languages of the sender's template. */
  templates: Part<{ language: string; values: Partial<TemplateValues> }[]>;
}

export type Part<Value> = { value: Value } | { failure: string };
