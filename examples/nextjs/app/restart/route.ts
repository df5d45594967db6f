import { formRoute } from '../../lib/formRoute';

export const POST = formRoute((session) => {
  session.pending = undefined;
});
