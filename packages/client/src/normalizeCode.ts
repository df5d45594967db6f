import { OnecodeError } from './errors.js';

/**
 * Returns a typed or pasted code in the form for `verify`: without spaces, dashes and invisible characters, and with 0 to 9 for the digits
 * of other scripts. The service checks a code exactly as sent: any other text is a wrong guess.
 *
 * @throws OnecodeError if the argument is not a string
 */
export function normalizeCode(typed: string): string {
  if (typeof typed !== 'string') throw new OnecodeError('The code is not a string.');
  return typed.replace(/[\p{Z}\p{C}\p{Pd}\u2212]/gu, '').replace(/\p{Nd}/gu, asciiDigit);
}

/** The digits of each script are consecutive, from zero to nine. */
function asciiDigit(digit: string): string {
  const at = digit.codePointAt(0)!;
  let zero = at;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((at - zero) % 10);
}
