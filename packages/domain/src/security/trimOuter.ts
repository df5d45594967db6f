/**
 * Returns the text without these characters at its start and end. Use it for input from the network: a pattern such as `/ +$/` takes
 * quadratic time on a long run of spaces inside the text.
 */
export function trimOuter(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text.charAt(start))) start += 1;
  while (start < end && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
