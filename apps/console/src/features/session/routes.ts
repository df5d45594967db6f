import { isStaffTwoFactorRequired } from '@onecode/store/accounts';
import { sendsMail } from '@onecode/store/mails';
import { listMemberships, mayCreateAccount } from '@onecode/store/users';
import { route, type Route } from '../../http/route.js';
import type { SessionView } from './view.js';

export const sessionRoutes: readonly Route[] = [
  route('get', '/session', 'signed_in', {
    async handle({ context: { database, config }, person }): Promise<SessionView> {
      const { sessionId: _, csrfToken, ...user } = person;
      const memberships = await listMemberships(database, user.id);
      return {
        user,
        needsTwoFactor: user.staff !== null && (await isStaffTwoFactorRequired(database)),
        mayCreateAccount: await mayCreateAccount(database, user.id),
        csrfToken,
        accounts: memberships.map(({ accountId, accountName, language, role }) => ({
          id: accountId,
          name: accountName,
          language,
          role,
        })),
        apiUrl: config.BASE_URL,
        supportUrl: config.SUPPORT_URL || null,
        sendsMail: await sendsMail(database),
      };
    },
  }),
];
