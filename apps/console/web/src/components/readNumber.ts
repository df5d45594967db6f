/** Why a text is not a number, or not one of the wanted kind. */
export type NumberFault = 'empty' | 'digits' | 'decimals' | 'thousands' | 'large';

/** White space that may separate thousands: a space, also a no-break, narrow or thin one. */
const SPACES = ' \u00a0\u2009\u202f';
/** JavaScript cannot represent every longer number exactly. */
const DIGITS_MAX = 15;

/**
 * Reads a text as a number in a language, or returns why it is not one. Thousands may be separated by the language's separator or by spaces.
 *
 * @param decimals the largest number of decimals
 */
export function readNumber(text: string, language: string, decimals = 0): number | NumberFault {
  const typed = text.trim();
  if (typed === '') return 'empty';
  const { group, decimal } = marksOf(language);
  const grouped = `[1-9]\\d{0,2}(?<mark>[\\${group}${SPACES}])\\d{3}(?:\\k<mark>\\d{3})*`;
  const parts = new RegExp(`^(?<whole>\\d+|${grouped})(?:\\${decimal}(?<fraction>\\d+))?$`).exec(
    typed,
  )?.groups;
  if (parts === undefined) return 'digits';
  const { whole = '', fraction = '' } = parts;
  if (fraction.length > decimals)
    return decimals === 0 && /^[1-9]\d{0,2}\D\d{3}$/.test(typed) ? 'thousands' : 'decimals';
  const digits = whole.replaceAll(/\D/g, '');
  return digits.length + fraction.length > DIGITS_MAX ? 'large' : Number(`${digits}.${fraction}`);
}

/** The separators of a language: in English `,` of thousands and `.` of decimals, in Portuguese the reverse. */
function marksOf(language: string): { group: string; decimal: string } {
  const parts = new Intl.NumberFormat(language).formatToParts(12_345.6);
  const markOf = (type: 'group' | 'decimal'): string => parts.find((part) => part.type === type)!.value;
  return { group: markOf('group'), decimal: markOf('decimal') };
}
