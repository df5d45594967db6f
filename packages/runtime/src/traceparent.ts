/** Version, trace id, parent id and flags; later versions may go on behind them. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(?:-[\x21-\x7e]*)?$/;
/** Longer ones are of no version that there is. */
const LENGTH_MAX = 512;

/** Reads the header `traceparent` as https://www.w3.org/TR/trace-context/ says, strictly. @returns it in version 00, or null */
export function parseTraceparent(header: string | readonly string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > LENGTH_MAX) return null;
  const [, version, context] = TRACEPARENT.exec(header) ?? [];
  const isValid = context !== undefined && (version !== '00' || header.length === `00-${context}`.length);
  return isValid ? `00-${context}` : null;
}
