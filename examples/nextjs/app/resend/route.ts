import { formRoute } from '../../lib/formRoute';
import { sendCode } from '../../lib/signIn';

export const POST = formRoute(async (session) => {
  if (session?.pending) await sendCode(session, session.pending.to);
});
