import type { Connection } from '../client/database.js';
import { secondsUntilTry, takeTry } from './countedTries.js';

/** Actions of people that reach others, by mail or by a request to a server that the person names. */
export type LimitedAction = 'invitation' | 'repeated_invitation' | 'event' | 'change' | 'mail';

/** A person's action exceeded a limit. The transaction that counted it must roll back. */
export class LimitReached extends Error {
  constructor(
    readonly action: LimitedAction,
    readonly retryAfterSeconds: number,
  ) {
    super(`the limit of this action is reached: ${action}`);
  }
}

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

type Scope = 'recipient' | 'account' | 'network';
/** Limits per day: for trial accounts, which anyone can create, and for all other accounts. */
type Limits = Readonly<Partial<Record<Scope, readonly [trial: number, others: number]>>>;

const PER_DAY: Readonly<Record<'invitation' | 'event' | 'change', Limits>> = {
  // A trial account usually invites only a few colleagues. Three mails per recipient allow for lost mails.
  invitation: { recipient: [3, 20], account: [10, 200], network: [20, 400] },
  // Events posted by hand. The page shows up to 100, and all of them may have to be repeated after an outage.
  event: { recipient: [200, 5_000], account: [50, 1_000], network: [100, 2_000] },
  // Changes that mail all admins of the account.
  change: { account: [50, 500] },
};

/** The account for which a person acts, and their network. */
export interface Requester {
  accountId: string;
  userId: string | null;
  /** The network of the client's address; omitted if it is not limited. */
  network?: string;
}

/**
 * Counts an action in every scope that limits it. Staff are not limited.
 *
 * @param connection a transaction: row locks let exactly as many concurrent actions through as the limit allows
 * @param recipient the mailbox or the host that the action reaches
 * @throws LimitReached, with the wait rounded up to whole hours, so that it does not reveal when another account reached the recipient
 */
export async function takeAction(
  connection: Pick<Connection, 'sql'>,
  action: keyof typeof PER_DAY,
  by: Requester,
  recipient?: string,
): Promise<void> {
  const tier = await findTier(connection, by);
  if (tier === 'staff') return;
  const scopes: Readonly<Record<Scope, string | undefined>> = {
    recipient,
    account: by.accountId,
    network: by.network,
  };
  // Each action locks its counters in the same order of scopes, so that no two actions can deadlock.
  for (const [scope, of] of Object.entries(scopes) as [Scope, string | undefined][]) {
    const limits = PER_DAY[action][scope];
    if (limits === undefined || of === undefined) continue;
    const subject = `${action} ${scope} ${tier} ${of}`;
    const limit = { max: limits[tier === 'trial' ? 0 : 1], seconds: DAY_SECONDS };
    if ((await takeTry(connection, subject, limit)) !== null) continue;
    const hours = Math.ceil((await secondsUntilTry(connection, subject)) / HOUR_SECONDS);
    throw new LimitReached(action, hours * HOUR_SECONDS);
  }
}

async function findTier(
  { sql }: Pick<Connection, 'sql'>,
  { accountId, userId }: Pick<Requester, 'accountId' | 'userId'>,
): Promise<'staff' | 'trial' | 'others'> {
  const [found] = await sql.query<{ isStaff: boolean; isTrial: boolean }[]>`
    select exists (select from users where id = ${userId}::uuid and staff is not null) as "isStaff",
      exists (select from accounts where id = ${accountId}::uuid and trial_countries is not null) as "isTrial"`;
  return found?.isStaff === true ? 'staff' : found?.isTrial === true ? 'trial' : 'others';
}

/**
 * Returns the mailbox by which mails to an address are counted: the address without its tag (`ana+tag@`) and without dots before the `@`,
 * which many providers ignore. As a result, two people of one domain may share a count.
 *
 * @param email in lower case
 */
export function normalizeMailbox(email: string): string {
  const at = email.lastIndexOf('@');
  const [name = ''] = email.slice(0, at).split('+', 1);
  return name.replaceAll('.', '') + email.slice(at);
}
