import type { Locale } from '@onecode/domain';
import type { MemberRole } from '@onecode/store/users';
import type { Person } from '../../auth/identity.js';

/** The signed-in person, as the pages need them. */
export interface SessionView {
  user: Omit<Person, 'sessionId' | 'csrfToken'>;
  /** Whether the staff's routes require a second factor of them. */
  needsTwoFactor: boolean;
  mayCreateAccount: boolean;
  csrfToken: string;
  accounts: { id: string; name: string; language: Locale; role: MemberRole }[];
  /** The API's public base URL, for examples. */
  apiUrl: string;
  /** Where customers ask for credits; null if the operator has not set it. */
  supportUrl: string | null;
  /** Whether workers send mail. */
  sendsMail: boolean;
}
