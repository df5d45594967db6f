import { isStaffTwoFactorRequired, listMemberships, mayCreateAccount, sendsMail } from '@onecode/store';
import { route, type Route } from '../../http/route.js';
import { sessionView } from './view.js';

export const sessionRoutes: readonly Route[] = [
  route('get', '/session', 'signed_in', {
    async handle({ context, person }) {
      const { database, config } = context;
      const memberships = await listMemberships(database, person.id);
      const needsTwoFactor = person.staff !== null && (await isStaffTwoFactorRequired(database));
      const rights = {
        needsTwoFactor,
        mayCreateAccount: await mayCreateAccount(database, person.id),
        sendsMail: await sendsMail(database),
      };
      return sessionView(person, memberships, rights, config);
    },
  }),
];
