import { formRoute } from '../../lib/formRoute';

export const POST = formRoute((session) => {
  if (session) session.pending = undefined;
});
