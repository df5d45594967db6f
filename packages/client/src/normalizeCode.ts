import { OnecodeError } from './errors.js';

/**
 * A code as people type and paste it, made what `verify` takes: without spaces, dashes and invisible characters, and with 0 to 9 for the
 * digits of other scripts. The service judges a code as it comes: each that it does not know is a wrong guess.
 *
 * @throws OnecodeError for what is no text
 */
export function normalizeCode(typed: string): string {
  if (typeof typed !== 'string') throw new OnecodeError('The code is not a text.');
  return typed.replace(/[\p{Z}\p{C}\p{Pd}\u2212]/gu, '').replace(/\p{Nd}/gu, asciiDigit);
}

/** The digits of each script stand in a row, from zero to nine. */
function asciiDigit(digit: string): string {
  const at = digit.codePointAt(0)!;
  let zero = at;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((at - zero) % 10);
}
