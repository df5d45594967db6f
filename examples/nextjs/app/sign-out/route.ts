import { formRoute } from '../../lib/formRoute';
import { replaceSession } from '../../lib/sessions';

export const POST = formRoute((session) => replaceSession(session));
