/** Version, trace id, parent id and flags. Later versions may append fields. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(?:-[\x21-\x7e]*)?$/;
/** No existing version is longer. */
const LENGTH_MAX = 512;

/**
 * Parses the header `traceparent`, strictly as defined in https://www.w3.org/TR/trace-context/. @returns it in version 00, or null if it is
 * invalid
 */
export function parseTraceparent(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > LENGTH_MAX) return null;
  const [, version, context] = TRACEPARENT.exec(header) ?? [];
  const isValid = context !== undefined && (version !== '00' || header.length === `00-${context}`.length);
  return isValid ? `00-${context}` : null;
}
