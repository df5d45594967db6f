import { MASKED, type NewSend } from '@onecode/domain';
import { audited, DIGITS_SHOWN, type Actor } from '../operations/audit.js';
import { Prisma } from '../generated/prisma/client.js';
import type { Connection, Database } from '../client/database.js';

/**
 * SQL for the identity of a send's recipient that was seen last, among their verified codes of the application; null if it is unknown or
 * forgotten.
 */
const verifiedIdentity = (send: Prisma.Sql): Prisma.Sql => Prisma.sql`(
  select i.identity_hash from send_identities i join sends v on v.id = i.send_id
  where i.application_id = ${send}.application_id and i.recipient_key = ${send}.recipient_key
    and i.identity_hash is not null and i.send_id <> ${send}.id and v.verification = 'verified'
  order by i.seen_at desc limit 1
)`;

/** SQL for the identity that the recipient of the taken send `t.send` must have, if its application enforces the check; otherwise null. */
export const EXPECTED_IDENTITY = Prisma.sql`(
  select ${verifiedIdentity(Prisma.sql`(t.send)`)} from applications p
  where p.id = (t.send).application_id and p.identity_check = 'enforce'
)`;

/**
 * Stores the identity of a send's recipient from a receipt, once for each send, if the application checks identities and the number is not
 * masked. If it differs from the identity of the recipient's last verified send, the number has another owner, or another installation of
 * WhatsApp.
 */
export async function recordIdentity({ sql }: Database, sendId: string, identityHash: string): Promise<void> {
  await sql.execute`
    insert into send_identities (send_id, application_id, recipient_key, identity_hash, has_changed)
    select s.id, s.application_id, s.recipient_key, ${identityHash}::text, coalesce(${verifiedIdentity(Prisma.sql`s`)} <> ${identityHash}::text, false)
    from sends s join applications p on p.id = s.application_id and p.identity_check <> 'off'
    where s.id = ${sendId}::uuid and s.recipient not like ${`%${MASKED}%`}
    -- Waits for an erasure of the recipient in progress, which masks the number.
    for share of s
    on conflict (send_id) do nothing`;
}

/**
 * Stores the identities of recipients under their current key during a rotation of `NUMBER_PEPPER`. Workers have no pepper, and look
 * identities up by the key of the send.
 */
export async function moveIdentities(
  { sql }: Pick<Connection, 'sql'>,
  sends: readonly NewSend[],
): Promise<void> {
  const records = sends.flatMap(({ applicationId, recipientKey, olderRecipientKeys }) =>
    olderRecipientKeys.map((older) => ({ application_id: applicationId, current: recipientKey, older })),
  );
  if (records.length === 0) return;
  await sql.execute`
    with records as materialized (
      select * from json_to_recordset(${JSON.stringify(records)}::json) as r (application_id uuid, current text, older text)
    ), locked as materialized (
      -- All callers lock in the same order, so that two callers cannot deadlock.
      select i.send_id, r.current from records r join send_identities i on i.application_id = r.application_id and i.recipient_key = r.older
      order by i.send_id for no key update of i
    )
    update send_identities i set recipient_key = l.current from locked l where i.send_id = l.send_id`;
}

/**
 * Forgets the identities of a recipient's number, so that the application's next code is sent to its current owner.
 *
 * @param recipientKeys all keys of the recipient
 * @returns how many identities were forgotten, or null if the application does not exist
 */
export async function forgetIdentity(
  database: Database,
  actor: Actor,
  applicationId: string,
  recipientKeys: readonly string[],
): Promise<number | null> {
  return audited(database, actor, async (connection, log) => {
    const application = await connection.prisma.application.findUnique({
      where: { id: applicationId },
      select: { accountId: true },
    });
    if (application === null) return null;
    const forgotten = await connection.sql.query<{ recipientEndsWith: string | null }[]>`
      update send_identities i set identity_hash = null
      where i.application_id = ${applicationId}::uuid and i.recipient_key = any(${[...recipientKeys]}::text[]) and i.identity_hash is not null
      returning (select right(s.recipient, ${DIGITS_SHOWN}::integer) from sends s where s.id = i.send_id) as "recipientEndsWith"`;
    const { accountId } = application;
    const [details] = forgotten;
    if (details !== undefined)
      await log({ action: 'application.forget_identity', accountId, subject: applicationId, details });
    return forgotten.length;
  });
}
