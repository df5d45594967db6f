import { mailRetrySeconds, type Locale, type MailKind } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';

/** How long a worker may take to send what it took: then another one takes it, and sends it again with the same Message-ID. */
const LEASE_SECONDS = 120;
/** How long a mail is remembered after its end: by whom, of what kind and when, never what it said. */
const KEPT_DAYS = 7;

/** A mail that this worker is to send. */
export interface DueMail {
  id: string;
  kind: MailKind;
  recipient: string;
  language: Locale;
  facts: Record<string, unknown>;
  sealedLink: Uint8Array | null;
  /** With this one. */
  tries: number;
  /** Whether somebody signs in with the recipient's address. */
  isKnown: boolean;
  /** Whether its time is over: it is not sent any more. */
  isOver: boolean;
}

/** Takes mails that are due, for as long as the lease lasts. Of several workers, each takes others. */
export async function takeDueMails({ sql }: Database, limit: number): Promise<DueMail[]> {
  return sql.query<DueMail[]>`
    with due as materialized (
      select id from mails where due_at <= clock_timestamp() order by due_at limit ${limit}::integer for update skip locked
    )
    update mails m set tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from due where m.id = due.id
    returning m.id, m.kind, m.recipient, coalesce((select language from users where email = m.recipient), m.language) as language,
      m.facts, m.sealed_link as "sealedLink", m.tries, exists (select from users where email = m.recipient) as "isKnown",
      m.gives_up_at <= clock_timestamp() as "isOver"`;
}

/** Ends a mail, and forgets what it said. */
export async function endMail({ sql }: Database, id: string, outcome: 'sent' | 'given_up'): Promise<void> {
  await sql.execute`
    update mails set outcome = ${outcome}, ended_at = clock_timestamp(), due_at = null, facts = '{}', sealed_link = null,
      error = case when ${outcome} = 'given_up' then error end
    where id = ${id}::uuid and outcome is null`;
}

/** Deletes a mail that is for nobody. */
export async function dropMail({ sql }: Database, id: string): Promise<void> {
  await sql.execute`delete from mails where id = ${id}::uuid`;
}

/** Lets a mail wait after a try that failed. The last try is as late as the mail is worth. @param error a code */
export async function postponeMail(
  { sql }: Database,
  { id, tries }: Pick<DueMail, 'id' | 'tries'>,
  error: string,
): Promise<void> {
  // Another worker may have taken it meanwhile.
  await sql.execute`
    update mails set due_at = least(clock_timestamp() + make_interval(secs => ${mailRetrySeconds(tries)}::integer), gives_up_at), error = ${error}
    where id = ${id}::uuid and tries = ${tries}::integer and outcome is null`;
}

/** Deletes the mails that ended some days ago. */
export async function deleteOldMails({ sql }: Database): Promise<void> {
  await sql.execute`
    delete from mails where ended_at < clock_timestamp() - make_interval(days => ${KEPT_DAYS}::integer)`;
}

/** The mails that wait, and those that were given up within a day. */
export interface MailStatistics {
  /** Whether workers send mail. */
  isOn: boolean;
  waiting: number;
  /** How long the oldest of them has waited; null without one. */
  oldestSeconds: number | null;
  givenUp: number;
  /** Why the last failed try of one of them failed: the SMTP client's and the server's code. */
  error: string | null;
}

export async function readMailStatistics({ sql }: Connection): Promise<MailStatistics> {
  const [row] = await sql.query<[MailStatistics]>`
    select (select mail_from is not null from mail_sender) as "isOn", count(*) filter (where due_at is not null)::integer as waiting,
      extract(epoch from clock_timestamp() - min(created_at) filter (where due_at is not null))::float8 as "oldestSeconds",
      count(*) filter (where outcome = 'given_up' and ended_at > clock_timestamp() - interval '1 day')::integer as "givenUp",
      max(error) filter (where due_at is not null or ended_at > clock_timestamp() - interval '1 day') as error
    from mails where due_at is not null or ended_at > clock_timestamp() - interval '1 day'`;
  return row;
}
