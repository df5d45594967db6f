import { createHmac, randomInt, timingSafeEqual } from 'node:crypto';
import { requireKey, type Keyring } from '../security/keyring.js';
import type { Send, Verification } from './send.js';

/** The code of a test send if the caller did not choose one. */
export const TEST_CODE = '000000';
/** The length of a generated code. The guess budget treats longer codes as equally hard to guess. */
const GENERATED_DIGITS = 6;
/** The number of wrong guesses that locks a send. */
export const GUESSES_MAX = 5;

export interface Judgement {
  valid: boolean;
  verification: Verification;
  attemptsLeft: number;
}

/** The fields of a send on which the judgement of a guess depends. */
export interface GuessedSend extends Pick<Send, 'verification' | 'expiresAt'> {
  /** The number of earlier wrong guesses. */
  wrongGuesses: number;
}

/** Returns the code's state at a time: a pending code expires at its deadline. */
export function verificationAt(send: Pick<Send, 'verification' | 'expiresAt'>, now: Date): Verification {
  return send.verification === 'pending' && now >= send.expiresAt ? 'expired' : send.verification;
}

/**
 * Judges one guess. Calls `matches` only if the guess counts.
 *
 * @returns `isCounted`: whether the guess has to be written; a guess at a verified, locked or expired code changes nothing
 */
export function judge(
  send: GuessedSend,
  now: Date,
  matches: () => boolean,
): { result: Judgement; isCounted: boolean } {
  const state = verificationAt(send, now);
  if (state !== 'pending')
    return { result: { valid: false, verification: state, attemptsLeft: 0 }, isCounted: false };
  if (matches())
    return { result: { valid: true, verification: 'verified', attemptsLeft: 0 }, isCounted: true };
  const attemptsLeft = GUESSES_MAX - send.wrongGuesses - 1;
  const verification = attemptsLeft > 0 ? 'pending' : 'locked';
  return { result: { valid: false, verification, attemptsLeft }, isCounted: true };
}

/** Returns a random code of six digits. All are equally likely, because `crypto.randomInt` has no modulo bias. */
export function generateCode(): string {
  return String(randomInt(10 ** GENERATED_DIGITS)).padStart(GENERATED_DIGITS, '0');
}

function computeMac(key: Buffer, sendId: string, code: string): Buffer {
  // All send ids have the same length, so no other id and code give the same bytes.
  return createHmac('sha256', key).update(sendId).update(code).digest();
}

/** Returns the stored hash of a code: the key version (1 byte), then HMAC-SHA256(pepper, send id ‖ code). 33 bytes. */
export function hashCode(pepper: Keyring, sendId: string, code: string): Buffer {
  return Buffer.concat([
    Buffer.of(pepper.current),
    computeMac(requireKey(pepper, pepper.current), sendId, code),
  ]);
}

/**
 * Returns whether `guess` matches a send's stored code hash. The comparison takes the same time for every guess.
 *
 * @param codeHash a result of `hashCode`
 * @throws Error if the keyring no longer has the key of the hash
 */
export function matchesCode(pepper: Keyring, sendId: string, guess: string, codeHash: Uint8Array): boolean {
  return timingSafeEqual(
    computeMac(requireKey(pepper, codeHash[0] as number), sendId, guess),
    codeHash.subarray(1),
  );
}

/**
 * Returns the points that a wrong guess takes from the recipient's guess budget: 1 for a code of six or more digits, 10 for five, 100 for
 * four. A point is a one-in-a-million chance of guessing right.
 *
 * @param code 4 to 10 digits
 */
export function guessCost(code: string): number {
  return 10 ** Math.max(0, GENERATED_DIGITS - code.length);
}
