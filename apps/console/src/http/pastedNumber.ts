/** The text before a number in copied links: a scheme, or the address of a chat. */
const LINK =
  /^(?:whatsapp:(?!\/)|tel:|(?:https?:\/\/)?(?:www\.)?wa\.me\/|(?:whatsapp:\/\/|(?:https?:\/\/)?(?:api|web)\.whatsapp\.com\/)send\/?\?(?:[^#]*&)?phone=) *(?:\+|%2B)?(?=\d)([^?&#/]*).*$/is;

/**
 * Returns the number in text copied from contacts, chats and web pages: removes invisible characters, and extracts the number of a chat
 * link.
 */
export function pastedNumber(text: string): string {
  // NFKC would turn a footnote mark such as ² into a digit, and the result would be another person's number.
  if (/\p{No}/u.test(text)) return text;
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s/gu, ' ')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .trim()
    .replace(LINK, '+$1');
}
