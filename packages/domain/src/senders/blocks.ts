import type { FaultScope } from '../sends/outcome.js';
import type { Locale } from '../sends/send.js';
import { NO_COUNTRY } from '../recipients/recipient.js';

/**
 * What blocks messages, or slows them down:
 *
 * - `operator`: somebody here said so, until somebody says otherwise.
 * - `provider`: its word about a number, a business account or a template, until its word changes.
 * - `fault`: a message met it. Nothing goes out until a time, then single messages try, until one proves it over.
 * - `limit`: the same with a limit of messages in a time; once it is over, the rate grows back to the full one.
 */
export type BlockCause = 'operator' | 'provider' | 'fault' | 'limit';

/** Whose messages: those of a sender, of a business account's senders, or all. */
export type BlockScope = 'sender' | 'business' | 'app';

/** How we know. */
export type BlockSource = 'operator' | 'answer' | 'receipt' | 'webhook' | 'read';

/** What a block is about, which makes it the only one of its cause. */
export interface BlockSubject {
  cause: BlockCause;
  scope: BlockScope;
  /** The sender's id, the business account's (the sender's where that is unknown), or empty for the app. */
  subject: string;
  /** The language, or the country, of the messages that it is for; empty: all. */
  onlyFor: string;
}

export interface Block extends BlockSubject {
  source: BlockSource;
  /** The provider's code, where it gave one. */
  errorCode: number | null;
  /** One of our own sentences, or an operator's. */
  reason: string;
  /** Of a fault: whether only an operator can end its cause: account, token, template or request. */
  isConfiguration: boolean;
  /** In a row. 0: it is over, and stays known so that what happened before its end begins nothing. */
  failures: number;
  since: Date;
  /** Null: until whoever began it ends it. */
  until: Date | null;
  /** When the message was begun that proved it over; null while none did. */
  clearedAt: Date | null;
  /** Messages a second at which a limit goes on when it is over; null for other causes. */
  rate: number | null;
}

/** What became of a message, as evidence: when the message was begun, and how we know. */
export interface Signal {
  startedAt: Date;
  source: 'answer' | 'receipt';
}

/** A fault, or a limit that was reached, as a message met it. */
export interface MetFault extends Signal, Pick<Block, 'errorCode' | 'reason' | 'isConfiguration'> {}

/** Whether a block still lets nothing through. */
export function stands({ failures, until }: Pick<Block, 'failures' | 'until'>, now: Date): boolean {
  return failures > 0 && (until === null || until > now);
}

/** Whether a block is about a message, among blocks of its sender. */
export function isAbout(
  { onlyFor }: BlockSubject,
  message: { locale: Locale; country: string | null },
): boolean {
  return onlyFor === '' || onlyFor === message.locale || onlyFor === (message.country ?? NO_COUNTRY);
}

/**
 * Whether evidence is news to a block. What a message met that was begun before the block is what began it, and what was begun before the
 * block was proved over is refuted: receipts report faults minutes later, and days later after an outage.
 */
export function isNewer({ since, clearedAt }: Block, { startedAt }: Signal): boolean {
  return startedAt > since && (clearedAt === null || startedAt > clearedAt);
}

/** The block that a fault begins, longer each time in a row; null where it is no news, or the block stands. */
export function afterFault(
  subject: BlockSubject,
  last: Block | null,
  now: Date,
  { startedAt, ...met }: MetFault,
): Block | null {
  if (last !== null && (!isNewer(last, { startedAt, source: met.source }) || stands(last, now))) return null;
  const failures = Math.min((last?.failures ?? 0) + 1, FAILURES_MAX);
  const until = new Date(now.getTime() + coolDownSeconds(subject, failures) * 1_000);
  return { ...subject, ...met, failures, since: now, until, clearedAt: null, rate: null };
}

/** The block that a limit begins; null where it is no news. @param limit `fullRate`: messages a second of all that it covers */
export function afterLimit(
  subject: BlockSubject,
  last: Block | null,
  now: Date,
  { startedAt, ...met }: Omit<MetFault, 'isConfiguration'>,
  limit: { fullRate: number; retryAfterSeconds: number | null; random: number },
): Block | null {
  if (last !== null && !isNewer(last, { startedAt, source: met.source })) return null;
  const failures = Math.min((last?.failures ?? 0) + 1, FAILURES_MAX);
  const until = new Date(now.getTime() + limitWaitMs(failures, limit.retryAfterSeconds, limit.random));
  const rate = Math.max(1, reducedRate(last, now, limit.fullRate));
  return { ...subject, ...met, isConfiguration: false, failures, since: now, until, clearedAt: null, rate };
}

/** Half of the rate at which the provider refused. While single messages try, the rate to come stays. See `active_blocks`. */
function reducedRate(last: Block | null, now: Date, fullRate: number): number {
  if (last === null || last.rate === null) return fullRate / 2;
  if (last.clearedAt === null) return last.rate;
  const grown = last.rate + (fullRate / 20) * ((now.getTime() - last.clearedAt.getTime()) / 1_000);
  return Math.min(fullRate, grown) / 2;
}

/**
 * A block as it is after proof of health: the provider accepted a message, or has sent one on. Null where that proves nothing: only a
 * message that was begun after the block does, and what a receipt blocked, only a receipt proves over.
 */
export function afterSuccess(block: Block, now: Date, success: Signal): Block | null {
  const isOfMessages = block.cause === 'fault' || block.cause === 'limit';
  if (!isOfMessages || block.failures === 0 || success.startedAt <= block.since) return null;
  if (block.source === 'receipt' && success.source !== 'receipt') return null;
  return { ...block, failures: 0, until: now, clearedAt: success.startedAt };
}

/** The reason of the operator's pause under which a sender is added until its preflight allows it to send. */
export const NOT_ACTIVATED = 'added, not activated yet';

/** Whether a sender still waits for its first activation. */
export const isNew = (blocks: readonly Block[]): boolean =>
  blocks.some(({ cause, reason }) => cause === 'operator' && reason === NOT_ACTIVATED);

/** The block that keeps a sender from sending anything, the longest of several; null without one. A limit only slows it down. */
export function standingBlock(blocks: readonly Block[], now: Date): Block | null {
  const end = ({ until }: Block): number => until?.getTime() ?? Infinity;
  const standing = blocks.filter(
    (block) => block.onlyFor === '' && block.cause !== 'limit' && stands(block, now),
  );
  // An operator's before the provider's.
  return standing.toSorted((a, b) => end(b) - end(a) || a.cause.localeCompare(b.cause))[0] ?? null;
}

/** Whether a sender may send. `paused`: until somebody ends it; `cooling_down`: after a fault, until a time. */
export const SENDER_STATES = ['active', 'cooling_down', 'paused'] as const;
export type SenderState = (typeof SENDER_STATES)[number];

/** The state of a sender, by the blocks of its own, its business account and the app. */
export function senderState(blocks: readonly Block[], now: Date): SenderState {
  const block = standingBlock(blocks, now);
  if (block === null) return 'active';
  return block.until === null ? 'paused' : 'cooling_down';
}

/** What a fault blocks: where, and for which messages only. The business account's other senders try sooner, see `coolDownSeconds`. */
export function blocksOf(
  scope: FaultScope,
  message: { locale: Locale; country: string | null },
): { scope: BlockScope; onlyFor: string }[] {
  if (scope === 'country') return [{ scope: 'sender', onlyFor: message.country ?? NO_COUNTRY }];
  if (scope === 'template') return [{ scope: 'sender', onlyFor: message.locale }];
  const sender = { scope: 'sender', onlyFor: '' } as const;
  return scope === 'business' ? [sender, { scope: 'business', onlyFor: '' }] : [sender];
}

const FAILURES_MAX = 1_000;
const COOL_DOWN_SECONDS_MAX = 3_600;

/**
 * Seconds of a block after its nth fault in a row (1 for the first): a minute, doubling, an hour at most. For a country it is an hour at
 * once. For a business account it begins at a quarter of a minute, because the fault may be that of one sender alone.
 */
export function coolDownSeconds(
  { scope, onlyFor }: Pick<BlockSubject, 'scope' | 'onlyFor'>,
  nth: number,
): number {
  if (/^[A-Z]{2}$/.test(onlyFor)) return COOL_DOWN_SECONDS_MAX;
  return Math.min(COOL_DOWN_SECONDS_MAX, (scope === 'business' ? 15 : 60) * 2 ** Math.min(nth - 1, 10));
}

/** Milliseconds of the waits after the first, second and further refusals in a row, without jitter. */
const LIMIT_WAITS_MS = [2_000, 4_000, 8_000, 10_000] as const;
/** No wait is longer, whatever the provider asks for. */
const WAIT_MS_MAX = 900_000;

/**
 * Milliseconds for which nothing goes out after a limit's nth refusal in a row. With up to half as much again as jitter, and never
 * shorter than what the provider asked for by Retry-After.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function limitWaitMs(nth: number, retryAfterSeconds: number | null, random: number): number {
  const ms = LIMIT_WAITS_MS[Math.min(nth, LIMIT_WAITS_MS.length) - 1] as number;
  return Math.round(Math.min(WAIT_MS_MAX, Math.max(ms * (1 + random / 2), (retryAfterSeconds ?? 0) * 1_000)));
}

/** The subject of a block of this scope, for one sender. A sender whose business account nobody knows counts as one of its own. */
export function blockSubject(
  scope: BlockScope,
  { id, businessAccountId }: { id: string; businessAccountId: string | null },
): string {
  return { sender: id, business: businessAccountId ?? id, app: '' }[scope];
}
