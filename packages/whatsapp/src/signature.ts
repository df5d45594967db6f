import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/;

/** Returns whether `header` has the form of a signature. This check does not need the body. */
export function isSignature(header: unknown): header is string {
  return typeof header === 'string' && SIGNATURE.test(header);
}

/**
 * Returns whether `header`, the value of `X-Hub-Signature-256`, is the HMAC-SHA256 of the raw body under the app secret. The bytes must be
 * the received ones, because parsing and serializing the body changes them. An empty secret matches nothing. Source: Meta, "Create a
 * webhook endpoint" (`sha256=` and 64 hex digits).
 */
export function signatureMatches(rawBody: Buffer, header: string | undefined, appSecret: string): boolean {
  const hex = SIGNATURE.exec(header ?? '')?.[1];
  if (hex === undefined || appSecret === '') return false;
  const expected = createHmac('sha256', appSecret).update(rawBody).digest();
  return timingSafeEqual(Buffer.from(hex, 'hex'), expected);
}

/**
 * Returns the response to Meta's GET handshake with these query parameters: the challenge as plain text, or null for a 403. A repeated
 * parameter is an array, which is refused. An empty expected token matches nothing.
 */
export function handshakeAnswer(
  query: Readonly<Record<string, unknown>>,
  expectedToken: string,
): string | null {
  const { 'hub.mode': mode, 'hub.verify_token': verifyToken, 'hub.challenge': challenge } = query;
  if (mode !== 'subscribe' || typeof challenge !== 'string' || challenge === '') return null;
  if (typeof verifyToken !== 'string' || expectedToken === '') return null;
  return timingSafeEqual(sha256(verifyToken), sha256(expectedToken)) ? challenge : null;
}

/** Returns the verify token for the webhook address of a sender's own app. It is derived from the app secret, so it is not stored. */
export const verifyTokenOf = (appSecret: string, senderId: string): string =>
  createHmac('sha256', appSecret).update(`verify token of ${senderId}`).digest('base64url');

/** Returns the digest of a token. All digests have equal lengths, so comparing them does not reveal the length of the token. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
