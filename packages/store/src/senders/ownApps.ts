import { decrypt, OWN_FAILURES, type Keyring } from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { returnTry, takeTry } from '../users/countedTries.js';
import type { NewReports } from '../sends/providerReports.js';

/** Returns the name under which an app secret is encrypted. It differs from the token's, so that neither can be decrypted as the other. */
export const appSecretName = (senderId: string): string => `app of ${senderId}`;

export interface OwnApp {
  /** The account of the app; null for an additional app of the operator. */
  accountId: string | null;
  secret: string;
}

/** Returns a sender's own app; null if the sender does not exist or has none. */
export async function findOwnApp(
  { prisma }: Connection,
  keyring: Keyring,
  senderId: string,
): Promise<OwnApp | null> {
  const sender = await prisma.sender.findUnique({
    where: { id: senderId, removedAt: null },
    select: { accountId: true, encryptedAppSecret: true },
  });
  if (sender === null || sender.encryptedAppSecret === null) return null;
  return {
    accountId: sender.accountId,
    secret: decrypt(keyring, appSecretName(senderId), sender.encryptedAppSecret),
  };
}

/**
 * Calls `write`, and counts the written failure if an account's own Meta app reported it. It counts before `write`, and undoes this if
 * `write` returns null or throws. If the process is killed in between, a failure that was not written stays counted.
 *
 * @param senderId the sender of the failed message; null if there is no failure
 * @param write its argument is true if the app has used up its failures in the month (UTC) of the account's latest creation, see
 * `OWN_FAILURES`
 */
export async function countOwnFailure<Written>(
  database: Connection,
  senderId: string | null,
  write: (isOverLimit: boolean) => Promise<Written | null>,
): Promise<Written | null> {
  if (senderId === null) return write(false);
  const [account] = await database.sql.query<{ id: string; month: string; max: number }[]>`
    select a.id, to_char(a.units_on, 'YYYY-MM') as month,
      greatest(${OWN_FAILURES.atLeast}::integer, floor(a.units_of_month * ${OWN_FAILURES.share}::float8)::integer) as max
    from senders s join accounts a on a.id = s.account_id
    where s.id = ${senderId}::uuid and s.encrypted_app_secret is not null`;
  if (account === undefined) return write(false);
  const subject = `failures reported by the app of ${account.id} in ${account.month}`;
  const limit = { max: account.max, seconds: MONTH_SECONDS_MAX };
  if ((await takeTry(database, subject, limit)) === null) return write(true);
  let written: Written | null = null;
  try {
    written = await write(false);
    return written;
  } finally {
    if (written === null) await returnTry(database, subject);
  }
}

const MONTH_SECONDS_MAX = 31 * 86_400;

/** The most unapplied reports of one account's own app. */
const WAITING_MAX = 10_000;

/**
 * Returns the reports that an app is allowed to make, because the holder of its secret can forge any: receipts and denials of its account's
 * messages from that account's senders (a sender may have belonged to another account before), and changes of business accounts in which no
 * other account has a sender. A send names its sender before its message is sent, so no report arrives too early for this check.
 *
 * @returns null if these reports would bring the account's own app above `WAITING_MAX` unapplied reports
 */
export async function reportsOfApp(
  { sql }: Connection,
  { accountId }: OwnApp,
  { receipts, denials, changes }: NewReports,
): Promise<NewReports | null> {
  const [own] = await sql.query<
    [{ waiting: number; receipts: number[]; denials: number[]; accounts: string[] }]
  >`
    with own as materialized (
      select id, business_account_id from senders where account_id is not distinct from ${accountId}::uuid
    )
    select (
      select count(*)::integer from (select from provider_reports where reporter = ${accountId}::uuid limit ${WAITING_MAX}) w
    ) as waiting, array(
      select r.n::integer from unnest(${receipts.map(({ attempt }) => attempt?.sendId ?? null)}::uuid[],
        ${receipts.map(({ attempt }) => attempt?.number ?? null)}::integer[]) with ordinality as r (send_id, number, n)
      join sends s on s.id = r.send_id and s.account_id = coalesce(${accountId}::uuid, s.account_id)
      where coalesce((select sender_id from attempts where send_id = s.id and number = r.number),
        case when s.attempt_number = r.number then s.sender_id end) in (select id from own)
    ) as receipts, array(
      select d.n::integer from unnest(${denials.map(({ messageId }) => messageId)}::text[]) with ordinality as d (message_id, n)
      cross join lateral (select * from attempts where message_id = d.message_id order by started_at limit 1) a
      join sends s on s.id = a.send_id and s.account_id = coalesce(${accountId}::uuid, s.account_id)
      where a.sender_id in (select id from own)
    ) as denials, array(
      select business_account_id from own where business_account_id is not null
      except select business_account_id from senders where account_id is distinct from ${accountId}::uuid and removed_at is null
    ) as accounts`;
  const ownChanges = changes.filter(({ businessAccountId }) => own.accounts.includes(businessAccountId));
  if (own.waiting + own.receipts.length + own.denials.length + ownChanges.length > WAITING_MAX) return null;
  return {
    receipts: own.receipts.map((n) => receipts[n - 1]!),
    denials: own.denials.map((n) => denials[n - 1]!),
    changes: ownChanges,
  };
}
