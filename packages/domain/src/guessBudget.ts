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
