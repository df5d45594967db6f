import type { FirstApplication, MemberRole } from '@onecode/store/users';

/** The default country: the one in which the service runs. */
export const HOME_COUNTRY = 'BR';

/** How many countries a user may choose at sign-up. */
export const TRIAL_COUNTRIES_MAX = 5;

/** What a new user gets at sign-up. */
export interface SignUpOfferView {
  freeSends: number;
  /** ISO 3166 codes of the countries to choose from. */
  countries: readonly string[];
  /** Whether workers send mail, which confirms sign-ups and replaces forgotten passwords. */
  sendsMail: boolean;
  /** Whether staff may sign in by their OpenID provider. */
  hasProvider: boolean;
}

/** An account that a person created. */
export interface NewAccountView {
  id: string;
  /** Its test application and the key, returned only once; null for an account that existed before. */
  first: FirstApplication | null;
}

/** What an invitation's link shows before the person accepts. */
export interface InvitationOfferView {
  accountName: string;
  email: string;
  role: MemberRole;
}
