import type { MemberRole, Membership } from '@onecode/store';
import type { ConsoleConfig } from '../../config.js';
import type { Person } from '../../auth/identity.js';

/** The signed-in person, as the pages need them. */
export interface SessionView {
  user: Omit<Person, 'sessionId' | 'csrfToken'>;
  /** Whether the staff's routes demand a second factor of them. */
  needsTwoFactor: boolean;
  mayCreateAccount: boolean;
  csrfToken: string;
  accounts: { id: string; name: string; role: MemberRole }[];
  /** The API's public base URL, for examples. */
  apiUrl: string;
  /** Where customers ask for credits; null where the operator has set nothing. */
  supportUrl: string | null;
  /** Whether workers send mail. */
  sendsMail: boolean;
}

export function sessionView(
  { sessionId: _sessionId, csrfToken, ...user }: Person,
  memberships: readonly Membership[],
  rights: Pick<SessionView, 'needsTwoFactor' | 'mayCreateAccount' | 'sendsMail'>,
  { BASE_URL, SUPPORT_URL }: Pick<ConsoleConfig, 'BASE_URL' | 'SUPPORT_URL'>,
): SessionView {
  return {
    user,
    ...rights,
    csrfToken,
    accounts: memberships.map(({ accountId, accountName, role }) => ({
      id: accountId,
      name: accountName,
      role,
    })),
    apiUrl: BASE_URL,
    supportUrl: SUPPORT_URL || null,
  };
}
