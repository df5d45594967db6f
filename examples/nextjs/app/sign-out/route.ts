import { formRoute } from '../../lib/formRoute';
import { endSession } from '../../lib/sessions';

export const POST = formRoute((session) => endSession(session?.id));
