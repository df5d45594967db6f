import { findSendAccount, findSendDetails, listHolds, noteRead } from '@onecode/store';
import { there } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { isHeldBy, sendDetailsView } from './view.js';
import { staffSendView } from './staffView.js';

/** One send of any account, for staff who have its id out of a log. Who reads which stands in the audit log, or is not answered. */
export const staffSendRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/operations/sends/:send',
    access: 'on_call',
    async handle({ context: { database }, actor, person, params }) {
      const id = params['send'] ?? '';
      const account = there(await findSendAccount(database, id));
      const [send, holds] = await Promise.all([
        findSendDetails(database, account.id, id),
        listHolds(database),
      ]);
      const found = there(send);
      const read = { action: 'send.read', accountId: account.id, subject: id } as const;
      await noteRead(database, { ...actor, id: person.id }, read);
      return staffSendView(sendDetailsView(found, isHeldBy(found, account.id, holds), new Date()), account);
    },
  }),
];
