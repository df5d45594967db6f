import { PROVIDER_WAIT_MS_MAX, type FaultScope } from '../sends/outcome.js';
import type { Locale } from '../sends/send.js';
import { NO_COUNTRY } from '../recipients/recipient.js';

/**
 * Why messages are blocked or slowed down:
 *
 * - `operator`: an operator paused the sender. The block ends when an operator resumes it.
 * - `provider`: the provider reported a state of a number, a business account or a template. The block ends when it reports another state,
 *   or when an operator resumes the sender, except for a template.
 * - `fault`: a message failed. Nothing is sent for a time, then single messages are tried, until a success signal clears the block.
 * - `limit`: the same for a rate limit; after it is cleared, the rate is reduced for a minute.
 */
export type BlockCause = 'operator' | 'provider' | 'fault' | 'limit';

/** Which messages are blocked: those of a sender, of all senders of a business account or of a business portfolio, or all. */
export type BlockScope = 'sender' | 'business' | 'portfolio' | 'app';

/** How the cause became known. */
export type BlockSource = 'operator' | 'answer' | 'receipt' | 'webhook' | 'read';

/** The kind of a block. A sender, a business account, a portfolio and the app have at most one block of each kind. */
export interface BlockKind {
  cause: BlockCause;
  scope: BlockScope;
  /** The language or the country of the blocked messages; empty for all. */
  onlyFor: string;
}

export interface Block extends BlockKind {
  source: BlockSource;
  /** The provider's code, if it returned one. */
  errorCode: number | null;
  /** A fixed sentence, or an operator's. */
  reason: string;
  /** For a fault: whether an operator has to correct its cause, such as the token, the template or the business account (`FaultScope`). */
  isConfiguration: boolean;
  /** Consecutive failures. A cleared block has 0, and is kept so that older failure signals do not start it again. */
  failures: number;
  since: Date;
  /** Null if it lasts until its source ends it. For a cleared limit, the end of the reduced rate. */
  until: Date | null;
  /** When the successful message that cleared the block was started; null if the block is not cleared. */
  clearedAt: Date | null;
  /** The reduced rate in messages per second, after a limit is cleared; null for other causes. */
  rate: number | null;
}

/** The result of a message: when the message was started, and how the result became known. */
export interface Signal {
  startedAt: Date;
  source: 'answer' | 'receipt';
}

/** The failure of a message by a fault or a rate limit. */
export interface FaultSignal extends Signal, Pick<Block, 'errorCode' | 'reason' | 'isConfiguration'> {}

/** Returns whether a block still blocks all its messages. */
export function isBlocking({ failures, until }: Pick<Block, 'failures' | 'until'>, now: Date): boolean {
  return failures > 0 && (until === null || until > now);
}

/** Returns whether a block applies to a message of its sender. */
export function appliesTo(
  { onlyFor }: BlockKind,
  message: { locale: Locale; country: string | null },
): boolean {
  return onlyFor === '' || onlyFor === message.locale || onlyFor === (message.country ?? NO_COUNTRY);
}

/**
 * Returns whether a message was started after a block, and after the message that cleared it. The results of earlier messages are ignored,
 * because they are what caused the block. Receipts report faults minutes later, and days later after an outage.
 */
const isNewer = (startedAt: Date, block: Block | null): boolean =>
  block === null || (startedAt > block.since && (block.clearedAt === null || startedAt > block.clearedAt));

/**
 * Returns the block after a fault, which is longer for each fault in a row; null if the signal is not newer, or the block is still active.
 */
export function afterFault(
  kind: BlockKind,
  last: Block | null,
  now: Date,
  { startedAt, ...met }: FaultSignal,
): Block | null {
  if (!isNewer(startedAt, last) || (last !== null && isBlocking(last, now))) return null;
  const failures = (last?.failures ?? 0) + 1;
  const until = new Date(now.getTime() + coolDownSeconds(kind, failures) * 1_000);
  return { ...kind, ...met, failures, since: now, until, clearedAt: null, rate: null };
}

/**
 * Returns the block after a rate limit was reached; null if the signal is not newer. @param limit `fullRate`: messages per second of all
 * senders that it applies to
 */
export function afterLimit(
  kind: BlockKind,
  last: Block | null,
  now: Date,
  { startedAt, ...met }: Omit<FaultSignal, 'isConfiguration'>,
  limit: { fullRate: number; retryAfterSeconds: number | null; random: number },
): Block | null {
  if (!isNewer(startedAt, last)) return null;
  const failures = (last?.failures ?? 0) + 1;
  const until = new Date(now.getTime() + limitWaitMs(failures, limit.retryAfterSeconds, limit.random));
  const rate = Math.max(1, reducedRate(last, now, limit.fullRate));
  return { ...kind, ...met, isConfiguration: false, failures, since: now, until, clearedAt: null, rate };
}

/** Returns half of the rate that the provider rejected. While single messages are tried, the next rate does not change. */
function reducedRate(last: Block | null, now: Date, fullRate: number): number {
  if (last === null || last.rate === null) return fullRate / 2;
  if (last.clearedAt === null) return last.rate;
  const isReduced = last.until !== null && last.until > now;
  return (isReduced ? last.rate : fullRate) / 2;
}

const REDUCED_RATE_MS = 60_000;

/**
 * Returns the block, cleared by a success: the provider accepted or delivered a message. Returns null if the success does not clear it:
 * only a message that was started after the block does, and a block caused by a receipt is cleared only by a receipt.
 */
export function afterSuccess(block: Block, now: Date, success: Signal): Block | null {
  const isOfMessages = block.cause === 'fault' || block.cause === 'limit';
  if (!isOfMessages || block.failures === 0 || success.startedAt <= block.since) return null;
  if (block.source === 'receipt' && success.source !== 'receipt') return null;
  const until = block.cause === 'limit' ? new Date(now.getTime() + REDUCED_RATE_MS) : now;
  return { ...block, failures: 0, until, clearedAt: success.startedAt };
}

/** The reason of a new sender's pause, which lasts until the sender is activated, after its preflight allows it to send. */
export const NOT_ACTIVATED = 'added, not activated yet';

/** Returns whether a sender still waits for its first activation. */
export const isNew = (blocks: readonly Block[]): boolean =>
  blocks.some(({ cause, reason }) => cause === 'operator' && reason === NOT_ACTIVATED);

/**
 * Returns the block that keeps a sender from sending anything, or the longest if there are several; null if there is none. A rate limit
 * only slows a sender down.
 */
export function activeBlock(blocks: readonly Block[], now: Date): Block | null {
  const end = ({ until }: Block): number => until?.getTime() ?? Infinity;
  const standing = blocks.filter(
    (block) => block.onlyFor === '' && block.cause !== 'limit' && isBlocking(block, now),
  );
  // Of two equally long blocks, an operator's takes precedence over the provider's.
  return standing.toSorted((a, b) => end(b) - end(a) || a.cause.localeCompare(b.cause))[0] ?? null;
}

/** Whether a sender may send. `paused`: until the pause is ended; `cooling_down`: for a time after a fault. */
export const SENDER_STATES = ['active', 'cooling_down', 'paused'] as const;
export type SenderState = (typeof SENDER_STATES)[number];

/** Returns the state of a sender according to its own blocks and those of its business account, its portfolio and the app. */
export function senderState(blocks: readonly Block[], now: Date): SenderState {
  const block = activeBlock(blocks, now);
  if (block === null) return 'active';
  return block.until === null ? 'paused' : 'cooling_down';
}

/**
 * Returns the blocks that a fault starts, from the narrowest to the widest scope. The other senders of a business account are tried sooner,
 * see `coolDownSeconds`.
 */
export function blocksOf(
  scope: FaultScope,
  message: { locale: Locale; country: string | null },
): BlockKind[] {
  const sender = { cause: 'fault', scope: 'sender', onlyFor: '' } as const;
  if (scope === 'country') return [{ ...sender, onlyFor: message.country ?? NO_COUNTRY }];
  if (scope === 'template') return [{ ...sender, onlyFor: message.locale }];
  return scope === 'business' || scope === 'portfolio' ? [sender, { ...sender, scope }] : [sender];
}

const COOL_DOWN_SECONDS_MAX = 3_600;

/**
 * Returns the seconds of a block after its nth fault in a row (from 1): a minute, doubling up to an hour. For a country it is always an
 * hour. For a business account it starts at 15 seconds, because only one of its senders may be at fault.
 */
export function coolDownSeconds(
  { scope, onlyFor }: Pick<BlockKind, 'scope' | 'onlyFor'>,
  nth: number,
): number {
  if (/^[A-Z]{2}$/.test(onlyFor)) return COOL_DOWN_SECONDS_MAX;
  return Math.min(COOL_DOWN_SECONDS_MAX, (scope === 'business' ? 15 : 60) * 2 ** (nth - 1));
}

const LIMIT_WAIT_MS_MAX = 10_000;

/**
 * Returns the milliseconds for which nothing is sent after the nth rejection by a rate limit in a row: two seconds, doubling up to ten, and
 * up to half of it as jitter. It is at least the provider's Retry-After, but at most `PROVIDER_WAIT_MS_MAX`.
 *
 * @param random a number from 0 up to, not including, 1
 */
export function limitWaitMs(nth: number, retryAfterSeconds: number | null, random: number): number {
  const ms = Math.min(LIMIT_WAIT_MS_MAX, 1_000 * 2 ** nth);
  return Math.round(
    Math.min(PROVIDER_WAIT_MS_MAX, Math.max(ms * (1 + random / 2), (retryAfterSeconds ?? 0) * 1_000)),
  );
}
