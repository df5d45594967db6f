/** A sender's permission to send one message, from a time on. */
export interface SendSlot {
  sender: {
    id: string;
    /** E.164. */
    number: string;
  };
  /** Milliseconds from now until the message may go. */
  waitMs: number;
}

/** How far ahead a slot may lie. The worker waits this long with a claimed send; a send that has to wait longer waits in its row. */
export const SLOT_WAIT_MS_MAX = 500;

/** How many turns an account may have for one of another; the first is what it has unless an operator sets more. */
export const WEIGHT_BOUNDS = { min: 1, max: 100 } as const;

const COOL_DOWN_SECONDS_MIN = 60;
const COOL_DOWN_SECONDS_MAX = 3600;

/** Seconds of cool-down after a sender's nth consecutive failure (1 for the first): a minute, doubling, an hour at most. */
export function coolDownSeconds(consecutiveFailures: number): number {
  return Math.min(COOL_DOWN_SECONDS_MAX, COOL_DOWN_SECONDS_MIN * 2 ** Math.min(consecutiveFailures - 1, 10));
}

/** Seconds of the first cool-down of a sender that is stopped with its business account, for another sender's message. */
const SHARED_COOL_DOWN_SECONDS_MIN = 15;

/**
 * Seconds of cool-down of the other senders of a business account whose fault stopped them too, by how often in a row that was: 1, 2 and
 * more times; the last one counts for all that follow. They try again sooner than the sender whose message failed, because the fault may
 * have been that sender's alone.
 */
export const SHARED_COOL_DOWN_SECONDS: readonly number[] = Array.from({ length: 9 }, (_, times) =>
  Math.min(COOL_DOWN_SECONDS_MAX, SHARED_COOL_DOWN_SECONDS_MIN * 2 ** times),
);

/** Whether a sender may send. `paused`: until an operator resumes it; `cooling_down`: after a failure, until a time. */
export const SENDER_STATES = ['active', 'cooling_down', 'paused'] as const;
export type SenderState = (typeof SENDER_STATES)[number];

/** The state of a sender at a moment. A cool-down that is over stays in the row until the next message, and counts no longer. */
export function senderState(
  { pausedAt, pausedUntil }: { pausedAt: Date | null; pausedUntil: Date | null },
  now: Date,
): SenderState {
  if (pausedAt === null) return 'active';
  if (pausedUntil === null) return 'paused';
  return pausedUntil > now ? 'cooling_down' : 'active';
}

/** Messages a second that the provider accepts from one number: 80 at first, up to 1,000 on request. */
export const SENDER_THROUGHPUT = { min: 1, max: 1_000, initial: 80 } as const;

/** The authentication template of a sender for which none is named. */
export const SENDER_TEMPLATE_INITIAL = 'verification_code';

/** The forms of what operators enter for a sender. */
export const SENDER_PATTERNS = {
  phoneNumberId: /^[0-9]{1,32}$/,
  businessAccountId: /^[0-9]{1,32}$/,
  template: /^[a-z0-9_]{1,512}$/,
} as const;
