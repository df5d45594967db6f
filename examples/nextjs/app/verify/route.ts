import { normalizeCode } from '@onecode/client';
import { formRoute } from '../../lib/formRoute';
import { replaceSession } from '../../lib/sessions';
import { verify } from '../../lib/signIn';

export const POST = formRoute(async (session, form) => {
  // The id and its number are read together, from the session alone: a code sent meanwhile changes neither.
  const { pending } = session;
  if (!pending?.sendId) return undefined;
  const outcome = await verify(pending, pending.sendId, normalizeCode(form.get('code') ?? ''));
  if (outcome.valid) return replaceSession(session, { signedInAs: pending.to });
  session.notice = outcome.notice;
  return undefined;
});
