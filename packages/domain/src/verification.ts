import { stopWaiting } from './delivery.js';
import type { Decision, Send, Verification } from './send.js';

/** Wrong codes after which a send is locked. */
export const GUESSES_MAX = 5;

/** What a verify call answers. */
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
 * Judges one guess. `matches` is asked only while a guess still counts. The change is to be committed before the judgement is
 * answered, so that a guess is spent even if its answer is lost. A code that it verifies or locks is not sent any more.
 */
export function judge(send: Send, now: Date, matches: () => boolean): Decision<Judgement> {
  const state = verificationAt(send, now);
  if (state !== 'pending') return { result: { valid: false, verification: state, attemptsLeft: 0 } };
  if (matches())
    return {
      result: { valid: true, verification: 'verified', attemptsLeft: 0 },
      change: { verification: 'verified', verifiedAt: now, ...stopWaiting(send, now) },
    };
  const wrongGuesses = send.wrongGuesses + 1;
  const isLast = wrongGuesses >= GUESSES_MAX;
  return {
    result: {
      valid: false,
      verification: isLast ? 'locked' : 'pending',
      attemptsLeft: GUESSES_MAX - wrongGuesses,
    },
    change: {
      wrongGuesses,
      ...(isLast && { verification: 'locked', lockedAt: now, ...stopWaiting(send, now) }),
    },
  };
}

/** Digits from which on a wrong guess costs no less: those of a generated code. */
const FULL_DIGITS = 6;

/**
 * What a wrong guess at a code takes from its recipient's guess budget: 1 for six digits or more, 10 for five, 100 for four. One point
 * is a chance of one in a million to be right.
 *
 * @param code 4 to 10 digits
 */
export function guessCost(code: string): number {
  return 10 ** Math.max(0, FULL_DIGITS - code.length);
}
