import 'server-only';
import {
  ConnectionError,
  IndeterminateVerificationError,
  ProblemError,
  type VerifyResult,
} from '@onecode/client';
import { onecode } from './onecode';
import { nextSends, type Pending, type Session } from './sessions';

const RESEND_AFTER_MS = Number(process.env['RESEND_AFTER_SECONDS'] ?? '30') * 1000;

export type Outcome = { valid: true } | { valid: false; notice: string };

export async function sendCode(session: Session, to: string): Promise<void> {
  const now = Date.now();
  for (const [key, at] of nextSends) if (at <= now) nextSends.delete(key);
  // Other sessions do not send to the number any sooner.
  const keys = [session.id, to];
  const waitSeconds = Math.ceil((Math.max(...keys.map((key) => nextSends.get(key) ?? 0)) - now) / 1000);
  if (waitSeconds > 0) {
    session.notice = `You can ask for a new code in ${waitSeconds} s.`;
    return;
  }
  for (const key of keys) nextSends.set(key, now + RESEND_AFTER_MS);
  // Without a key of an attempt whose outcome is unknown, the SDK makes a new one: a new code.
  const unfinished = session.unfinished?.to === to ? session.unfinished : undefined;
  try {
    const send = await onecode().send({ to }, { idempotencyKey: unfinished?.idempotencyKey });
    session.pending = { to, sendId: send.id };
    session.unfinished = undefined;
  } catch (error) {
    for (const key of keys) nextSends.delete(key);
    if (!(error instanceof ProblemError || error instanceof ConnectionError)) throw error;
    // A limit says nothing of a try before it whose answer was lost.
    const refused = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    session.unfinished = refused ? undefined : { to, idempotencyKey: error.idempotencyKey };
    session.notice = sendNotice(error);
  }
}

/** Verifies a code with one request. Only `valid: true` signs in. */
export async function verify(pending: Pending, sendId: string, code: string): Promise<Outcome> {
  try {
    const result = await onecode().verify(sendId, code);
    return result.valid ? { valid: true } : { valid: false, notice: verificationNotice(result) };
  } catch (error) {
    if (error instanceof ProblemError || error instanceof ConnectionError)
      return { valid: false, notice: 'The code was not checked. Try again.' };
    if (!(error instanceof IndeterminateVerificationError)) throw error;
    // The code may be used up, so it is never verified again.
    pending.sendId = null;
    return { valid: false, notice: 'Something went wrong. Ask for a new code.' };
  }
}

/** @returns undefined while there is nothing to tell, and when the send could not be read: the page works without it */
export async function deliveryNotice(pending: Pending | undefined): Promise<string | undefined> {
  if (!pending?.sendId) return undefined;
  try {
    const { status } = await onecode().status(pending.sendId);
    return status === 'failed'
      ? 'The code could not be delivered. Check the number or ask for a new one.'
      : undefined;
  } catch (error) {
    if (error instanceof ProblemError || error instanceof ConnectionError) return undefined;
    throw error;
  }
}

function sendNotice(error: ProblemError | ConnectionError): string {
  if (error instanceof ProblemError && error.status === 422)
    return 'No code can be sent to this number. Check it.';
  if (error instanceof ProblemError && error.status === 429)
    return 'Too many codes were asked for. Try again later.';
  return 'Codes cannot be sent at the moment. Try again.';
}

function verificationNotice({ verification, attempts_left }: VerifyResult): string {
  if (verification === 'pending')
    return `That code is not right. Use the newest message. Attempts left: ${attempts_left}.`;
  if (verification === 'expired') return 'This code is no longer valid. Ask for a new one.';
  if (verification === 'locked') return 'Too many wrong codes. Ask for a new one.';
  return 'This code was used already. Ask for a new one.';
}
