import { stopDelivery } from './delivery.js';
import type { Send, Verification } from './send.js';

/** The number of wrong guesses that locks a send. */
export const GUESSES_MAX = 5;

export interface Judgement {
  valid: boolean;
  verification: Verification;
  attemptsLeft: number;
}

/** The fields of a send on which the judgement of a guess depends. */
export type GuessedSend = Pick<
  Send,
  'mode' | 'phase' | 'receiptUntil' | 'verification' | 'wrongGuesses' | 'expiresAt'
>;

/** The fields of a send that a guess may change. */
export type GuessChange = Partial<
  Pick<
    Send,
    'verification' | 'wrongGuesses' | 'verifiedAt' | 'lockedAt' | 'encryptedCode' | 'phase' | 'dueAt'
  >
>;

/** Returns the code's state at a time: a pending code expires at its deadline. */
export function verificationAt(send: Pick<Send, 'verification' | 'expiresAt'>, now: Date): Verification {
  return send.verification === 'pending' && now >= send.expiresAt ? 'expired' : send.verification;
}

/**
 * Judges one guess. Calls `matches` only if the guess counts. A verified or locked code is no longer delivered. A guess at a verified,
 * locked or expired code changes nothing.
 */
export function judge(
  send: GuessedSend,
  now: Date,
  matches: () => boolean,
): { result: Judgement; change?: GuessChange } {
  const state = verificationAt(send, now);
  if (state !== 'pending') return { result: { valid: false, verification: state, attemptsLeft: 0 } };
  if (matches())
    return {
      result: { valid: true, verification: 'verified', attemptsLeft: 0 },
      change: { verification: 'verified', verifiedAt: now, ...stopDelivery(send, now) },
    };
  const wrongGuesses = send.wrongGuesses + 1;
  const attemptsLeft = GUESSES_MAX - wrongGuesses;
  if (attemptsLeft > 0)
    return { result: { valid: false, verification: 'pending', attemptsLeft }, change: { wrongGuesses } };
  return {
    result: { valid: false, verification: 'locked', attemptsLeft: 0 },
    change: { wrongGuesses, verification: 'locked', lockedAt: now, ...stopDelivery(send, now) },
  };
}

/** The digits of a generated code. The budget treats longer codes as equally hard to guess. */
const FULL_DIGITS = 6;

/**
 * Returns the points that a wrong guess takes from the recipient's guess budget: 1 for a code of six or more digits, 10 for five, 100 for
 * four. A point is a one-in-a-million chance of guessing right.
 *
 * @param code 4 to 10 digits
 */
export function guessCost(code: string): number {
  return 10 ** Math.max(0, FULL_DIGITS - code.length);
}
