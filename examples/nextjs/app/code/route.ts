import { parsePhoneNumberFromString } from 'libphonenumber-js';
import { formRoute } from '../../lib/formRoute';
import { createSession } from '../../lib/sessions';
import { sendCode } from '../../lib/signIn';

export const POST = formRoute(async (session, form) => {
  const typed = form.get('to') ?? '';
  // One form for each number, however it was typed. The service refuses text that is not a number.
  const to = parsePhoneNumberFromString(typed)?.number ?? typed;
  const created = session ? undefined : createSession();
  await sendCode(session ?? created!, to);
  return created;
});
