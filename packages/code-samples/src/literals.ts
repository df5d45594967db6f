/** Functions that write any text as a literal of a language. */

/** Returns a JavaScript literal, in single quotes if that needs no escapes. */
export function jsText(text: string): string {
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}

/** Returns a literal for a POSIX shell, where only the end is special between single quotes. */
export const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a PHP literal in single quotes, where only these two characters are special. */
export const phpText = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

/** Returns a Go literal, raw if possible. Go accepts the escapes of JSON. */
export const goText = (text: string): string =>
  /^[^`\p{Cc}]*$/u.test(text) ? `\`${text}\`` : JSON.stringify(text);

/**
 * Returns a Java literal. Java accepts the escapes of JSON except one: its compiler replaces `\\uXXXX` before it finds the ends of strings.
 *
 * @param text without control characters and lone surrogates, like JSON and URLs
 */
export const javaText = (text: string): string => JSON.stringify(text);
