import { findSendAccount, findSendDetails, listHolds } from '@onecode/store';
import { there } from '../problem.js';
import { route, type Route } from '../route.js';
import { isHeldBy, sendDetailsView } from '../views/sends.js';
import { staffSendView } from '../views/staffSends.js';

/** One send of any account, for staff who have its id out of a log. */
export const staffSendRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/operations/sends/:send',
    access: 'on_call',
    async handle({ context: { database }, params }) {
      const id = params['send'] ?? '';
      const account = there(await findSendAccount(database, id));
      const [send, holds] = await Promise.all([
        findSendDetails(database, account.id, id),
        listHolds(database),
      ]);
      const found = there(send);
      return staffSendView(sendDetailsView(found, isHeldBy(found, account.id, holds), new Date()), account);
    },
  }),
];
