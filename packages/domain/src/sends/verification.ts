import { stopDelivery } from './delivery.js';
import type { Send, SendChange, Verification } from './send.js';

/** Wrong guesses after which a send is locked. */
export const GUESSES_MAX = 5;

export interface Judgement {
  valid: boolean;
  verification: Verification;
  attemptsLeft: number;
}

/** What a guess may change of a send. */
export type GuessChange = Partial<Pick<Send, 'verification' | 'wrongGuesses' | 'verifiedAt' | 'lockedAt'>> &
  SendChange;

/** The code's state at a moment: a pending code whose deadline has come is expired. */
export function verificationAt(send: Pick<Send, 'verification' | 'expiresAt'>, now: Date): Verification {
  return send.verification === 'pending' && now >= send.expiresAt ? 'expired' : send.verification;
}

/**
 * Judges one guess. `matches` is called only while guesses count. Once the code is verified or locked, it is no longer delivered. The
 * statement of `verifySend` in `packages/store` does the same; a property test holds it against this rule.
 */
export function judge(
  send: Send,
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
