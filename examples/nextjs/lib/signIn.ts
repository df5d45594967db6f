import 'server-only';
import {
  addSendId,
  ConnectionError,
  IndeterminateVerificationError,
  ProblemError,
  type Send,
  type VerifyResult,
} from '@onecode/client';
import { onecode } from './onecode';
import { createSession, endSession, nextSends, verifications, type Pending, type Session } from './sessions';

const RESEND_AFTER_MS = Number(process.env['RESEND_AFTER_SECONDS'] ?? '30') * 1000;

/** After this time, a user who asks again expects a new message. */
const SAME_SEND_MS = 60_000;

type Outcome = { valid: true } | { valid: false; notice: string };

export async function sendCode(session: Session, to: string): Promise<void> {
  const now = Date.now();
  for (const [key, at] of nextSends) if (at <= now) nextSends.delete(key);
  // Other sessions cannot send to the number sooner.
  const keys = [session.id, to];
  const waitSeconds = Math.ceil((Math.max(...keys.map((key) => nextSends.get(key) ?? 0)) - now) / 1000);
  if (waitSeconds > 0) {
    session.notice = `You can ask for a new code in ${waitSeconds} s.`;
    return;
  }
  for (const key of keys) nextSends.set(key, now + RESEND_AFTER_MS);
  // For a minute, a try without a response is retried with its key. After that, the SDK creates a new key and a new code.
  const earlierTry = session.unfinished?.to === to ? session.unfinished : undefined;
  const unfinished = earlierTry && now - earlierTry.askedAt < SAME_SEND_MS ? earlierTry : undefined;
  try {
    let send = await onecode().send({ to }, { idempotencyKey: unfinished?.idempotencyKey });
    // A retry returns the first send, even if its code is no longer valid.
    if (unfinished && (send.verification !== 'pending' || send.status === 'failed'))
      send = await onecode().send({ to });
    // The latest two count, because users often type the code that arrived first.
    const earlier = session.pending?.to === to ? session.pending.sendIds : [];
    session.pending = { to, sendIds: addSendId(earlier, send.id) };
    session.unfinished = undefined;
  } catch (error) {
    for (const key of keys) nextSends.delete(key);
    if (!(error instanceof ProblemError || error instanceof ConnectionError)) throw error;
    // A 429 does not show whether an earlier try without a response created a send.
    const refused = error instanceof ProblemError && error.status < 500 && error.status !== 429;
    const { idempotencyKey } = error;
    const askedAt = unfinished?.idempotencyKey === idempotencyKey ? (unfinished?.askedAt ?? now) : now;
    session.unfinished = refused ? undefined : { to, idempotencyKey, askedAt };
    session.notice = sendNotice(error);
  }
}

/** Signs in with a code. Returns the new session of a user with the right code. A second click gets the outcome of the first. */
export function signIn(session: Session, pending: Pending, code: string): Promise<Session | undefined> {
  const key = `${session.id} ${code}`;
  const running = verifications.get(key);
  if (running) return running;
  const started = verifyAndSignIn(session, pending, code).finally(() => verifications.delete(key));
  verifications.set(key, started);
  return started;
}

/** Reads the ids and their number together, and only once, so that a code sent meanwhile changes neither. */
async function verifyAndSignIn(
  session: Session,
  pending: Pending,
  code: string,
): Promise<Session | undefined> {
  const outcome = await verify(session, pending, code);
  if (!outcome.valid) {
    session.notice = outcome.notice;
    return undefined;
  }
  // A new id at sign-in: a session id that an attacker planted is then worthless.
  endSession(session.id);
  return createSession({ signedInAs: pending.to });
}

/** Verifies a code, with one request for each of the latest sends. Only `valid: true` signs in. */
async function verify(session: Session, pending: Pending, code: string): Promise<Outcome> {
  try {
    const result = await onecode().verifyLatest(pending.sendIds, code);
    return result.valid ? { valid: true } : { valid: false, notice: verificationNotice(result) };
  } catch (error) {
    if (error instanceof ProblemError || error instanceof ConnectionError)
      return { valid: false, notice: 'The code was not checked. Try again.' };
    if (!(error instanceof IndeterminateVerificationError)) throw error;
    // The code may be used up, so never verify it again.
    pending.sendIds = [];
    // No code is left to wait for.
    for (const key of [session.id, pending.to]) nextSends.delete(key);
    return { valid: false, notice: 'Something went wrong. Ask for a new code.' };
  }
}

/** @returns undefined if there is nothing to show or the send could not be read: the page works without it */
export async function deliveryNotice(pending: Pending | undefined): Promise<string | undefined> {
  const newest = pending?.sendIds[0];
  if (newest === undefined) return undefined;
  try {
    const { status, failure_reason } = await onecode().status(newest);
    return status === 'failed' ? failureNotice(failure_reason) : undefined;
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
  if (verification === 'pending') return `That code is not right. Attempts left: ${attempts_left}.`;
  if (verification === 'expired') return 'This code is no longer valid. Ask for a new one.';
  if (verification === 'locked') return 'Too many wrong codes. Ask for a new one.';
  return 'This code was already used. Ask for a new one.';
}

function failureNotice(reason: Send['failure_reason']): string {
  if (reason === 'rejected_by_provider') return 'We could not reach this number on WhatsApp. Is it right?';
  if (reason === 'expired_before_delivery') return 'The code could not be delivered in time. Try again.';
  return 'The code could not be delivered. Try again.';
}
