import { createHmac, timingSafeEqual } from 'node:crypto';
import { ConsoleProblem } from '../../http/problem.js';

/** What a proof binds together. */
interface Tried {
  userId: string;
  applicationId: string;
  sendId: string;
}

/**
 * Proves that a person created a send on the page of an application. Without it, the page would be a way to guess at the codes of any
 * send of the account that the audit log does not show. It is not stored, so that every replica of the console can check it.
 *
 * @param secret the console's session secret
 */
export function proofOf(secret: string, { userId, applicationId, sendId }: Tried): string {
  return createHmac('sha256', secret)
    .update(`tryout ${userId} ${applicationId} ${sendId}`)
    .digest('base64url');
}

/** @throws ConsoleProblem `not_found` for a send that this person did not create there */
export function requireProof(secret: string, tried: Tried, given: string): void {
  const [expected, brought] = [Buffer.from(proofOf(secret, tried)), Buffer.from(given)];
  if (expected.length !== brought.length || !timingSafeEqual(expected, brought))
    throw new ConsoleProblem('not_found');
}
