import type { FirstApplication } from '@onecode/store/accounts';
import type { MemberRole } from '@onecode/store/users';

/** The country of people who name none: the one that the service runs in. */
export const HOME_COUNTRY = 'BR';

/** How many countries a person may name at sign-up. */
export const TRIAL_COUNTRIES_MAX = 5;

/** What a person who signs up now gets. */
export interface SignUpOfferView {
  freeSends: number;
  /** ISO 3166 codes of the countries to choose from. */
  countries: readonly string[];
  /** Whether workers send mail: then a sign-up is confirmed by one, and a forgotten password replaced. */
  sendsMail: boolean;
  /** Whether staff may sign in by their OpenID provider. */
  hasProvider: boolean;
}

/** An account that a person created. */
export interface NewAccountView {
  id: string;
  /** Its test application and the key, this once; null for an account that they had before. */
  first: FirstApplication | null;
}

/** What an invitation's link shows before the person accepts. */
export interface InvitationOfferView {
  accountName: string;
  email: string;
  role: MemberRole;
}
