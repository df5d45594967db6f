import { stopDelivery } from './delivery.js';
import type { Decision, Send, SendChange, Verification } from './send.js';

/** Wrong guesses after which a send is locked. */
export const GUESSES_MAX = 5;

/** The answer to a guess. */
export interface Judgement {
  valid: boolean;
  verification: Verification;
  attemptsLeft: number;
}

/** The code's state at a moment: a pending code whose deadline has come is expired. */
export function verificationAt(send: Pick<Send, 'verification' | 'expiresAt'>, now: Date): Verification {
  return send.verification === 'pending' && now >= send.expiresAt ? 'expired' : send.verification;
}

/**
 * Judges one guess. `matches` is called only while guesses count. The caller commits the change before it answers, so that a guess is
 * spent even if the answer is lost. Once the code is verified or locked, it is no longer delivered.
 *
 * @param uncounted wrong guesses that were judged and are not in `send.wrongGuesses` yet, see `countGuess`
 */
export function judge(send: Send, now: Date, matches: () => boolean, uncounted = 0): Decision<Judgement> {
  const state = verificationAt(send, now);
  if (state !== 'pending') return { result: { valid: false, verification: state, attemptsLeft: 0 } };
  const wrongBefore = send.wrongGuesses + uncounted;
  if (wrongBefore >= GUESSES_MAX)
    return { result: { valid: false, verification: 'locked', attemptsLeft: 0 } };
  if (matches())
    return {
      result: { valid: true, verification: 'verified', attemptsLeft: 0 },
      change: { verification: 'verified', verifiedAt: now, ...stopDelivery(send, now) },
    };
  const attemptsLeft = GUESSES_MAX - wrongBefore - 1;
  return {
    result: { valid: false, verification: attemptsLeft === 0 ? 'locked' : 'pending', attemptsLeft },
    change: wrongGuess(send, now),
  };
}

/** Counts a wrong guess that was judged earlier and could not be written then, even if the code has expired since. */
export function countGuess(send: Send, now: Date): Decision<'counted' | 'settled'> {
  if (send.verification !== 'pending') return { result: 'settled' };
  return { result: 'counted', change: wrongGuess(send, now) };
}

function wrongGuess(send: Send, now: Date): SendChange {
  const wrongGuesses = send.wrongGuesses + 1;
  const isLast = wrongGuesses >= GUESSES_MAX;
  return {
    wrongGuesses,
    ...(isLast && { verification: 'locked', lockedAt: now, ...stopDelivery(send, now) }),
  };
}

/** The digits of a generated code. Longer codes are no harder to guess for the budget. */
const FULL_DIGITS = 6;

/**
 * The points that a wrong guess takes from the recipient's guess budget: 1 for a code of six digits or more, 10 for five, 100 for four.
 * A point is a chance of one in a million to guess right.
 *
 * @param code 4 to 10 digits
 */
export function guessCost(code: string): number {
  return 10 ** Math.max(0, FULL_DIGITS - code.length);
}
