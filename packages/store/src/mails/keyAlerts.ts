import type { Database } from '../client/database.js';
import { writeMails } from './writeMails.js';

/** The numbers of days before a key's expiry at which its account gets a mail. */
export const KEY_MAIL_DAYS = [14, 3] as const;
/** A mail is at most this late, after workers were stopped. It is less than the time for which the outbox keeps a sent mail. */
const LATE_DAYS_MAX = 3;

interface EndingKey {
  event: string;
  accountId: string;
  application: string;
  hint: string;
  days: number;
  until: string;
}

/**
 * Queues a mail about each key that expires within `KEY_MAIL_DAYS`, once for each of these days. A key gets no mail for a day before its
 * creation. The outbox ensures that several workers queue it once.
 */
export async function queueKeyExpiryAlerts(database: Database): Promise<void> {
  const ending = await database.sql.query<EndingKey[]>`
    select n.event, a.account_id as "accountId", a.name as application, k.hint,
      ceil(extract(epoch from k.expires_at - clock_timestamp()) / 86400)::integer as days,
      to_char(k.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as until
    from unnest(${[...KEY_MAIL_DAYS]}::integer[]) as d (days)
    join api_keys k on k.expires_at > greatest(clock_timestamp(), clock_timestamp() + make_interval(secs => (d.days - ${LATE_DAYS_MAX}::integer) * 86400))
      and k.expires_at <= clock_timestamp() + make_interval(secs => d.days * 86400)
      and k.created_at < k.expires_at - make_interval(secs => d.days * 86400)
    join applications a on a.id = k.application_id
    cross join lateral (select format('key_expires %s %s', k.id, d.days) as event) n
    where k.revoked_at is null and not exists (select from outbox o where o.event = n.event)`;
  for (const { event, accountId, ...facts } of ending)
    await writeMails(database, { kind: 'key_expires', event, facts }, { adminsOf: accountId });
}
