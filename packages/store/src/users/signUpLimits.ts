import { readSettings } from '../accounts/settings.js';
import type { Database } from '../client/database.js';
import { returnTry, takeTry } from './countedTries.js';

/** Sign-up tries per hour from one network. Each try, even a failed one, costs the work of judging a password. */
export const SIGN_UP_TRIES_MAX = 30;
const TRIES = { max: SIGN_UP_TRIES_MAX, seconds: 3_600 };
const DAY_SECONDS = 86_400;

/** The origin of a sign-up, by which sign-ups are limited. */
export interface SignUpOrigin {
  network: string;
  /** The registrable domain of the e-mail address. */
  mailDomain: string;
}

const triesSubject = ({ network }: SignUpOrigin): string => `sign-up tries of ${network}`;
const listSubjects = ({ network, mailDomain }: SignUpOrigin): [network: string, domain: string] => [
  `people of ${network}`,
  `people at ${mailDomain}`,
];

/**
 * Counts a sign-up as a try of its network, and for the day by its network and by its mail domain.
 * @returns null, or the limit that was reached; the day's counts are unchanged then
 */
export async function takeSignUp(
  database: Database,
  origin: SignUpOrigin,
): Promise<'tries' | 'network' | 'domain' | null> {
  if (!(await takeTry(database, triesSubject(origin), TRIES))) return 'tries';
  const { signUpsPerNetworkDay, signUpsPerDomainDay } = await readSettings(database);
  const [network, domain] = listSubjects(origin);
  if (!(await takeTry(database, network, { max: signUpsPerNetworkDay, seconds: DAY_SECONDS })))
    return 'network';
  if ((await takeTry(database, domain, { max: signUpsPerDomainDay, seconds: DAY_SECONDS })) !== null)
    return null;
  await returnTry(database, network);
  return 'domain';
}

/** Subtracts a sign-up that created no user from the day's counts. The try stays counted. */
export async function returnSignUp(database: Database, origin: SignUpOrigin): Promise<void> {
  for (const people of listSubjects(origin)) await returnTry(database, people);
}
