import { normalizeCode } from '@onecode/client';
import { formRoute } from '../../lib/formRoute';
import { createSession, endSession } from '../../lib/sessions';
import { verify } from '../../lib/signIn';

export const POST = formRoute(async (session, form) => {
  // The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
  const pending = session?.pending;
  if (!pending?.sendId) return undefined;
  const outcome = await verify(pending, pending.sendId, normalizeCode(form.get('code') ?? ''));
  if (outcome.valid) {
    // A new id at sign-in: an id that somebody planted before is worth nothing.
    endSession(session?.id);
    return createSession({ signedInAs: pending.to });
  }
  session!.notice = outcome.notice;
  return undefined;
});
