import { formRoute } from '../../lib/formRoute';
import { sendCode } from '../../lib/signIn';

export const POST = formRoute((session, form) => sendCode(session, (form.get('to') ?? '').trim()));
