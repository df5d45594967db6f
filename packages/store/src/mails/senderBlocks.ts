import type { Connection } from '../client/database.js';
import { writeMails } from './writeMails.js';

/** A block that starts again within this time is not mailed again. */
const QUIET_HOURS = 6;

/**
 * Mails a sender's owner that it is blocked: the admins of its account, or the staff if it is shared.
 *
 * @param onlyFor the language or country of the blocked messages; empty if all are blocked
 */
export async function queueSenderBlockedAlert(
  connection: Pick<Connection, 'sql'>,
  senderId: string,
  onlyFor: string,
  reason: string,
): Promise<void> {
  const [sender] = await connection.sql.query<{ number: string; account_id: string | null; at: string }[]>`
    select number, account_id, extract(epoch from clock_timestamp())::text as at from senders
    where id = ${senderId}::uuid and removed_at is null`;
  if (sender === undefined) return;
  const { number, account_id: accountId, at } = sender;
  const isCountry = /^[A-Z]{2}$/.test(onlyFor);
  const [language, country] = [isCountry ? null : onlyFor || null, isCountry ? onlyFor : null];
  const of = `sender_blocked ${senderId} ${onlyFor} `;
  const facts = { senderId, number, reason, language, country };
  await writeMails(
    connection,
    { kind: 'sender_blocked', event: of + at, facts },
    accountId === null ? 'staff' : { adminsOf: accountId },
    { subject: of, hours: QUIET_HOURS },
  );
}
