import { encrypt, type Keyring, type Locale } from '@onecode/domain';
import type { Connection } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import type { MailFacts, MailKind } from './mailKinds.js';

type Sql = Pick<Connection, 'sql'>;

export interface NewMail<Kind extends MailKind> {
  kind: Kind;
  /** Identifies the event. Each person gets one mail per event, even if the mail is written again. */
  event: string;
  facts: MailFacts[Kind];
}

/** An event for a webhook: its type, and its data in addition to the account. It contains no send, number, code or key. */
interface AccountEvent {
  type: 'balance.low' | 'breaker.tripped' | 'sender.blocked' | 'webhook.test';
  data: Readonly<Record<string, string | number | null>>;
}

/** The events that accompany mails to an account's admins. */
const EVENTS: { readonly [Kind in MailKind]?: (facts: MailFacts[Kind]) => AccountEvent } = {
  low_balance: ({ left, below, perDay }) => ({
    type: 'balance.low',
    data: { units_left: left, below, live_sends_last_day: perDay },
  }),
  breaker_tripped: ({ country, sends, unverified, until }) => ({
    type: 'breaker.tripped',
    data: { country, sends, unverified, until },
  }),
  sender_blocked: ({ senderId, language, country, reason }) => ({
    type: 'sender.blocked',
    data: { sender_id: senderId, language, country, reason },
  }),
};

/**
 * The recipients of a mail: one person, the staff, or an account's admins, optionally with one person added (`and`) or excluded
 * (`without`).
 */
export type Recipients =
  | { userId: string }
  | 'staff'
  | { adminsOf: string; and?: string | null; without?: string | null };

/** A subject, and the hours in which a person gets at most one mail about it. */
export interface Quiet {
  /** The common prefix of the subject's events. */
  subject: string;
  hours: number;
}

/** Returns whether workers send mail. If not, no mails are written, and no page offers them. */
export async function sendsMail({ sql }: Sql): Promise<boolean> {
  const [row] = await sql.read<[{ is: boolean }]>`select mail_from is not null as is from settings`;
  return row.is;
}

/** Records the sender address of this worker's mails; null if it sends none. */
export async function noteMailSender({ sql }: Sql, from: string | null): Promise<void> {
  await sql.execute`update settings set mail_from = ${from} where mail_from is distinct from ${from}`;
}

/**
 * Writes a mail to each recipient who has not turned off its kind, in the caller's transaction, so that it is sent only if the change
 * commits. A mail to admins names their account, and also becomes an event for its webhook.
 */
export async function writeMails<Kind extends MailKind>(
  { sql }: Sql,
  { kind, event, facts }: NewMail<Kind>,
  to: Recipients,
  quiet: Quiet | null = null,
): Promise<void> {
  await sql.execute`
    insert into outbox (id, event, recipient, language, kind, facts, gives_up_at)
    select gen_random_uuid(), ${event}, r.email, r.language, ${kind}, ${JSON.stringify(facts)}::jsonb || r.facts,
      clock_timestamp() + interval '1 day'
    from settings s cross join (${recipients(to)}) r
    where s.mail_from is not null and not ${kind} = any(coalesce(r.muted_mails, '{}')) and not ${isQuiet(quiet, Prisma.sql`r.email`)}
    on conflict (event, recipient) do nothing`;
  const accountEvent = typeof to === 'object' && 'adminsOf' in to ? EVENTS[kind]?.(facts) : undefined;
  if (accountEvent !== undefined)
    await writeEvent({ sql }, (to as { adminsOf: string }).adminsOf, accountEvent, event, quiet);
}

/** Writes an event for an account's webhook, if it has one, in the caller's transaction. @param event identifies the event, as in a mail */
export async function writeEvent(
  { sql }: Sql,
  accountId: string,
  { type, data }: AccountEvent,
  event: string,
  quiet: Quiet | null = null,
): Promise<number> {
  return sql.execute`
    insert into outbox (id, event, recipient, account_id, kind, facts, gives_up_at)
    select gen_random_uuid(), ${event}, w.account_id::text, w.account_id, ${type}, jsonb_build_object('type', ${type}::text, 'timestamp',
      to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'data', jsonb_build_object('account_id', w.account_id) || ${JSON.stringify(data)}::jsonb), clock_timestamp() + interval '1 day'
    from event_webhooks w where w.account_id = ${accountId}::uuid and not ${isQuiet(quiet, Prisma.sql`w.account_id::text`)}
    on conflict (event, recipient) do nothing`;
}

/** Returns SQL for whether a recipient got a mail about the subject within these hours. */
const isQuiet = (quiet: Quiet | null, recipient: Prisma.Sql): Prisma.Sql =>
  quiet === null
    ? Prisma.sql`false`
    : Prisma.sql`exists (
        select from outbox o where o.event >= ${quiet.subject} and o.event < ${`${quiet.subject}~`} and o.recipient = ${recipient}
          and o.created_at > clock_timestamp() - make_interval(hours => ${quiet.hours}::integer)
      )`;

/** The language of a mail to the user `u`: their own, or that of the account that they joined first. */
const LANGUAGE = Prisma.sql`coalesce(u.language, (
  select a.language from members m join accounts a on a.id = m.account_id
  where m.user_id = u.id order by m.created_at, a.id limit 1
), 'en')`;

function recipients(to: Recipients): Prisma.Sql {
  if (to === 'staff')
    return Prisma.sql`
      select email, ${LANGUAGE} as language, muted_mails, '{}'::jsonb as facts from users u where staff is not null`;
  if ('userId' in to)
    return Prisma.sql`
      select email, ${LANGUAGE} as language, muted_mails, '{}'::jsonb as facts from users u where id = ${to.userId}::uuid`;
  const { adminsOf, and = null, without = null } = to;
  return Prisma.sql`
    select u.email, coalesce(u.language, a.language) as language, u.muted_mails,
      jsonb_build_object('account', a.name, 'accountId', a.id, 'isTrial', a.trial_countries is not null) as facts
    from accounts a join members m on m.account_id = a.id join users u on u.id = m.user_id
    where a.id = ${adminsOf}::uuid and (m.role = 'admin' or m.user_id = ${and}::uuid) and m.user_id is distinct from ${without}::uuid`;
}

/** A mail with a link that does what was requested. */
export interface LinkMail<Kind extends MailKind> {
  kind: Kind;
  facts: MailFacts[Kind];
  /** Lower case. */
  recipient: string;
  /** Used for a recipient without a chosen language. */
  language: Locale;
  /** The link with its token, encrypted until the mail is sent, and then deleted. */
  link: string;
  /** How long the link is valid; the mail is not sent later than that. */
  minutes: number;
}

/** Writes a mail with a link. It writes the same for every address, whether or not a user has it. Workers drop mails without a user. */
export async function writeLinkMail<Kind extends MailKind>(
  { sql }: Sql,
  keyring: Keyring,
  { kind, facts, recipient, language, link, minutes }: LinkMail<Kind>,
): Promise<void> {
  const id = newId();
  await sql.execute`
    insert into outbox (id, event, recipient, language, kind, facts, encrypted_link, gives_up_at)
    select ${id}::uuid, ${`${kind} ${id}`}, ${recipient}, ${language}, ${kind}, ${JSON.stringify(facts)}::jsonb,
      ${new Uint8Array(encrypt(keyring, id, link))}::bytea,
      clock_timestamp() + least(make_interval(mins => ${minutes}::integer), interval '1 day')
    from settings where mail_from is not null`;
}
