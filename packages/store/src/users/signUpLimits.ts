import { readSettings } from '../accounts/settings.js';
import type { Database } from '../client/database.js';
import { returnTry, takeTry } from './countedTries.js';

/** Tries of sign-up an hour from one network: each costs the work of judging a password, failed ones too. */
export const SIGN_UP_TRIES_MAX = 30;
const TRIES = { max: SIGN_UP_TRIES_MAX, seconds: 3_600 };
const DAY_SECONDS = 86_400;

/** The origin of a sign-up, by which it is limited. */
export interface SignUpOrigin {
  network: string;
  /** The registrable domain of their e-mail address. */
  mailDomain: string;
}

const triesOf = ({ network }: SignUpOrigin): string => `sign-up tries of ${network}`;
const peopleOf = ({ network, mailDomain }: SignUpOrigin): [network: string, domain: string] => [
  `people of ${network}`,
  `people at ${mailDomain}`,
];

/**
 * Counts a sign-up: as a try of its network, and as one of the day's from its network and with its mail domain.
 * @returns null, or the limit that is reached; then neither of the day's counts has changed
 */
export async function takeSignUp(
  database: Database,
  origin: SignUpOrigin,
): Promise<'tries' | 'network' | 'domain' | null> {
  if (!(await takeTry(database, triesOf(origin), TRIES))) return 'tries';
  const { signUpsPerNetworkDay, signUpsPerDomainDay } = await readSettings(database);
  const [network, domain] = peopleOf(origin);
  if (!(await takeTry(database, network, { max: signUpsPerNetworkDay, seconds: DAY_SECONDS })))
    return 'network';
  if ((await takeTry(database, domain, { max: signUpsPerDomainDay, seconds: DAY_SECONDS })) !== null)
    return null;
  await returnTry(database, network);
  return 'domain';
}

/** Takes a sign-up that created nobody off the day's counts. Its try stays counted. */
export async function returnSignUp(database: Database, origin: SignUpOrigin): Promise<void> {
  for (const people of peopleOf(origin)) await returnTry(database, people);
}
