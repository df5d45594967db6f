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
