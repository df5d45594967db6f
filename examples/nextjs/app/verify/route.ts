import { normalizeCode } from '@onecode/client';
import { formRoute } from '../../lib/formRoute';
import { signIn } from '../../lib/signIn';

export const POST = formRoute(async (session, form) =>
  session && session.pending && session.pending.sendIds.length > 0
    ? signIn(session, session.pending, normalizeCode(form.get('code') ?? ''))
    : undefined,
);
