import { OnecodeError } from './errors.js';
import type { VerifyResult } from './types.js';

const SENDS_MAX = 2;

/**
 * Returns the ids of a session's two latest sends, the newest first, for `verifyLatest`. Store them in the session together with the
 * number, and start a new list for another number.
 *
 * @param sendIds the ids that the session has so far
 * @param sendId of the send that was just created; adding the newest one again changes nothing
 */
export function addSendId(sendIds: readonly string[] | undefined, sendId: string): string[] {
  return [sendId, ...(sendIds ?? []).filter((one) => one !== sendId)].slice(0, SENDS_MAX);
}

/** Verifies a code against sends in their order, up to the one that it belongs to. @param verify makes one request */
export async function verifyInOrder(
  sendIds: readonly string[],
  verify: (sendId: string) => Promise<VerifyResult>,
): Promise<VerifyResult> {
  if (!Array.isArray(sendIds) || sendIds.length < 1 || sendIds.length > SENDS_MAX)
    throw new OnecodeError('verifyLatest needs the ids of one or two sends, the newest first.');
  const results: VerifyResult[] = [];
  for (const sendId of sendIds as string[]) {
    const result = await verify(sendId);
    // Verified now or before: an older code must not start another sign-in.
    if (result.verification === 'verified') return result;
    results.push(result);
  }
  return results.find(({ verification }) => verification === 'pending') ?? results[0]!;
}
