import type { Database } from '../client/database.js';
import { readSettings } from '../accounts/settings.js';
import { returnTry, takeTry } from './tries.js';

/** Sign-ups that one network may try in an hour, so that those which fail are few as well: each asks for the work of judging a password. */
export const SIGN_UP_TRIES_MAX = 30;
const TRIES = { max: SIGN_UP_TRIES_MAX, seconds: 3_600 };
const DAY_SECONDS = 86_400;

/** Where somebody who signs up comes from. */
export interface SignUpOrigin {
  /** The network of their address, as one text. */
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
 * Takes what a sign-up uses up, before anything of it is judged: one of its network's tries, which is never given back, and a place
 * among the people who may sign up in a day from its network and with its mail domain.
 *
 * @returns what there is none left of, with no place taken, or null
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

/** Gives back the places of a sign-up that made nobody. Its try stays used up. */
export async function returnSignUp(database: Database, origin: SignUpOrigin): Promise<void> {
  for (const people of peopleOf(origin)) await returnTry(database, people);
}
