import { PROVIDER_WAIT_MS_MAX } from '../sends/outcome.js';
import type { SenderFailure } from '../sends/delivery.js';
import type { Locale } from '../sends/send.js';

/**
 * Why messages are blocked:
 *
 * - `operator`: an operator paused the sender. The block ends when an operator resumes it.
 * - `provider`: the provider reported a state of a number, a business account or a template. The block ends when it reports another state,
 *   or when an operator resumes the sender, except for a template.
 * - `fault`: a message failed. Nothing is sent for a time, then single messages are tried, until a success signal clears the block.
 * - `limit`: the same for a rate limit, with shorter times.
 */
export type BlockCause = 'operator' | 'provider' | 'fault' | 'limit';

/** Which messages are blocked: those of a sender, or of all senders of a business account or of a business portfolio. */
export type BlockScope = 'sender' | 'business' | 'portfolio';

/** How the cause became known. */
export type BlockSource = 'operator' | 'provider' | 'answer' | 'receipt';

/** The kind of a block. A sender, a business account and a portfolio have at most one block of each kind. */
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
  /** A fixed sentence, an operator's text, or the state that the provider reported. */
  reason: string;
  /** For a fault: whether an operator has to correct its cause, such as the token, the template or the business account (`FaultScope`). */
  isConfiguration: boolean;
  /** Consecutive failures. A cleared block has 0, and is kept so that older failure signals do not start it again. */
  failures: number;
  /** When it started; for a cleared block, when the successful message that cleared it was started. Results of earlier messages are ignored. */
  since: Date;
  /** Null if it lasts until its source ends it. */
  until: Date | null;
}

/** The result of a message: when the message was started, and how the result became known. */
export interface Signal {
  startedAt: Date;
  source: 'answer' | 'receipt';
}

/** Returns whether a block still blocks all its messages. */
export function isBlocking({ failures, until }: Pick<Block, 'failures' | 'until'>, now: Date): boolean {
  return failures > 0 && (until === null || until > now);
}

/** Returns whether a block applies to a message of its sender. */
export function appliesTo({ onlyFor }: BlockKind, message: { locale: Locale; country: string }): boolean {
  return onlyFor === '' || onlyFor === message.locale || onlyFor === message.country;
}

/**
 * Returns the block after a failure, which is longer for each failure in a row. Returns null if the block is still active. Also returns
 * null if the message was started before the block, because such messages caused the block, or before the message that cleared it. Receipts
 * report failures minutes later, and days later after an outage.
 */
export function afterFailure(
  kind: BlockKind,
  last: Block | null,
  now: Date,
  { startedAt, source }: Signal,
  failure: SenderFailure,
): Block | null {
  if (last !== null && (isBlocking(last, now) || startedAt <= last.since)) return null;
  const failures = (last?.failures ?? 0) + 1;
  const until = new Date(now.getTime() + coolDownMs(kind, failure, failures));
  const { errorCode, reason } = failure;
  const isConfiguration = failure.kind === 'config';
  return { ...kind, source, errorCode, reason, isConfiguration, failures, since: now, until };
}

/**
 * Returns the block, cleared by a success: the provider accepted or delivered a message. Returns null if the success does not clear it.
 * Only a message that was started after the block clears it, and only a receipt clears a block that a receipt caused.
 */
export function afterSuccess(block: Block, success: Signal): Block | null {
  const isOfMessages = block.cause === 'fault' || block.cause === 'limit';
  if (!isOfMessages || block.failures === 0 || success.startedAt <= block.since) return null;
  if (block.source === 'receipt' && success.source !== 'receipt') return null;
  return { ...block, failures: 0, since: success.startedAt };
}

/** The reason of a new sender's pause, which lasts until the sender is activated, after its preflight allows it to send. */
export const NOT_ACTIVATED = 'added, not activated yet';

/** Returns whether a sender still waits for its first activation. */
export const isNew = (blocks: readonly Block[]): boolean =>
  blocks.some(({ cause, reason }) => cause === 'operator' && reason === NOT_ACTIVATED);

/**
 * Returns the block that stops all messages of a sender, the longest if there are several; null without one. Ignores rate limits, which
 * only slow a sender down.
 */
export function activeBlock(blocks: readonly Block[], now: Date): Block | null {
  const end = ({ until }: Block): number => until?.getTime() ?? Infinity;
  const standing = blocks.filter(
    (block) => block.onlyFor === '' && block.cause !== 'limit' && isBlocking(block, now),
  );
  // Of two equally long blocks, an operator's takes precedence over the provider's.
  return standing.toSorted((a, b) => end(b) - end(a) || a.cause.localeCompare(b.cause))[0] ?? null;
}

/** Whether a sender may send. `paused`: an operator or the provider blocks it, without an end; `cooling_down`: for a time after a fault. */
export const SENDER_STATES = ['active', 'cooling_down', 'paused'] as const;
export type SenderState = (typeof SENDER_STATES)[number];

/** Returns the state of a sender according to its own blocks and those of its business account and its portfolio. */
export function senderState(blocks: readonly Block[], now: Date): SenderState {
  const block = activeBlock(blocks, now);
  if (block === null) return 'active';
  return block.until === null ? 'paused' : 'cooling_down';
}

/**
 * Returns the blocks that a failure starts, from the narrowest to the widest scope. The other senders of a business account are tried sooner
 * after a fault, see `coolDownMs`.
 */
export function blocksOf(
  failure: SenderFailure,
  { locale, country }: { locale: Locale; country: string },
): BlockKind[] {
  if (failure.kind === 'retry')
    return [{ cause: 'limit', scope: failure.throttled === 'business' ? 'business' : 'sender', onlyFor: '' }];
  const sender = { cause: 'fault', scope: 'sender', onlyFor: '' } as const;
  const scope = failure.kind === 'config' ? failure.scope : 'token';
  if (scope === 'country') return [{ ...sender, onlyFor: country }];
  if (scope === 'template') return [{ ...sender, onlyFor: locale }];
  return scope === 'business' || scope === 'portfolio' ? [sender, { ...sender, scope }] : [sender];
}

/**
 * Returns the milliseconds of a block after the nth failure in a row (from 1):
 *
 * - after a fault, a minute, doubling up to an hour. For a business account it starts at 15 seconds, because only one of its senders may be
 *   at fault
 * - after a rate limit, two seconds, doubling up to ten; at least the provider's Retry-After, but at most `PROVIDER_WAIT_MS_MAX`
 */
export function coolDownMs({ scope }: Pick<BlockKind, 'scope'>, failure: SenderFailure, nth: number): number {
  const doubled = (first: number, max: number): number => Math.min(max, first * 2 ** (nth - 1));
  if (failure.kind !== 'retry') return doubled(scope === 'business' ? 15_000 : 60_000, 3_600_000);
  const askedMs = (failure.retryAfterSeconds ?? 0) * 1_000;
  return Math.min(PROVIDER_WAIT_MS_MAX, Math.max(doubled(2_000, 10_000), askedMs));
}
