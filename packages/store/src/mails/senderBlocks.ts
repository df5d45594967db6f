import type { Database } from '../client/database.js';
import { writeMails } from './writeMails.js';

/** A block that starts again, or lasts, is not mailed again within this time. */
const QUIET_HOURS = 6;
/** A mail is at most this late, after workers were stopped. */
const LATE_MINUTES_MAX = 60;

interface BlockedSender {
  senderId: string;
  /** Null if it is shared. */
  accountId: string | null;
  number: string;
  reason: string;
  onlyFor: string;
  since: string;
}

/**
 * Mails the owners of senders about recent blocks that need a correction: faults of the configuration, and states that the provider
 * reported. The owners are the admins of a sender's account, or the staff if it is shared. The outbox ensures that several workers queue a
 * mail once.
 */
export async function queueSenderBlockedAlerts(database: Database): Promise<void> {
  const blocked = await database.sql.query<BlockedSender[]>`
    select s.id as "senderId", s.account_id as "accountId", s.number, b.reason, b.only_for as "onlyFor", extract(epoch from b.since)::text as since
    from sender_blocks b join senders s on s.id::text = b.subject
    where b.scope = 'sender' and b.failures > 0 and (b.cause = 'provider' or b.is_configuration)
      and b.since > clock_timestamp() - make_interval(mins => ${LATE_MINUTES_MAX}::integer) and s.removed_at is null
    order by b.since`;
  for (const { senderId, accountId, number, reason, onlyFor, since } of blocked) {
    const isCountry = /^[A-Z]{2}$/.test(onlyFor);
    const [language, country] = [isCountry ? null : onlyFor || null, isCountry ? onlyFor : null];
    const of = `sender_blocked ${senderId} ${onlyFor} `;
    const facts = { senderId, number, reason, language, country };
    await writeMails(
      database,
      { kind: 'sender_blocked', event: of + since, facts },
      accountId === null ? 'staff' : { adminsOf: accountId },
      { subject: of, hours: QUIET_HOURS },
    );
  }
}
