/** How each language writes a text as a literal, whatever characters are in it. */

/** JavaScript, in single quotes where that needs no escapes. */
export function jsText(text: string): string {
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}

/** A POSIX shell, where nothing is special between single quotes but their end. */
export const shellText = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** PHP between single quotes, where only these two are special. */
export const phpText = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;

/** Go, raw where that is possible. JSON's escapes are Go's. */
export const goText = (text: string): string =>
  /^[^`\p{Cc}]*$/u.test(text) ? `\`${text}\`` : JSON.stringify(text);

/**
 * Java, which has JSON's escapes but for one: its compiler replaces `\\uXXXX` before it looks for the ends of texts.
 *
 * @param text without control characters and lone surrogates, as JSON and addresses are
 */
export const javaText = (text: string): string => JSON.stringify(text);
