import type { Locale } from '@onecode/domain';
import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { LATE_MAILS, type MailKind } from './mailKinds.js';
import { FAILS_FOR_LONG } from './staffAlerts.js';

/** How long a worker may take to send a claimed mail. After that another worker claims it, and sends it again with the same Message-ID. */
const LEASE_SECONDS = 120;
/** The last attempt is made this long before an entry is given up. */
const LAST_TRY = '1 minute';
/** How long a finished entry is kept: its recipient, kind and times, without the content of a mail. */
const KEPT_DAYS = 7;

/** A mail that this worker has to send. */
export interface DueMail {
  id: string;
  kind: MailKind;
  recipient: string;
  language: Locale;
  facts: Record<string, unknown>;
  encryptedLink: Uint8Array | null;
  /** The number of attempts, including this one. */
  tries: number;
  isKnown: boolean;
  /** False for a mail about an incident that no longer fails. */
  isCurrent: boolean;
  /** Whether it is too late to send it. */
  isOver: boolean;
}

/**
 * Claims due mails for the duration of the lease: password resets first, `LATE_MAILS` last, and otherwise the oldest first. Several workers
 * claim different mails.
 *
 * @param which `urgent`: without `LATE_MAILS`
 */
export async function takeDueMails(
  { sql }: Database,
  limit: number,
  which: 'all' | 'urgent' = 'all',
): Promise<DueMail[]> {
  const late = [...LATE_MAILS];
  return sql.query<DueMail[]>`
    with due as materialized (
      select id from outbox
      where account_id is null and due_at <= clock_timestamp() and (${which} = 'all' or kind <> all(${late}::text[]))
      order by kind = any(${late}::text[]), kind <> 'password_reset', due_at limit ${limit}::integer for update skip locked
    )
    update outbox m set tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from due where m.id = due.id
    returning m.id, m.kind, m.recipient, coalesce((select language from users where email = m.recipient), m.language) as language,
      m.facts, m.encrypted_link as "encryptedLink", m.tries, exists (select from users where email = m.recipient) as "isKnown",
      (m.kind <> 'finding' or exists (select from incidents i where i.id = (m.facts ->> 'incidentId')::uuid and ${FAILS_FOR_LONG})) as "isCurrent",
      m.gives_up_at <= clock_timestamp() as "isOver"`;
}

/** An event that this worker has to post to an account's webhook. */
export interface DueEvent {
  id: string;
  accountId: string;
  /** The same bytes at each attempt. */
  body: string;
  url: string;
  encryptedSecret: Uint8Array;
  tries: number;
  /** Whether it is too late to post it. */
  isOver: boolean;
}

/** Claims events like `takeDueMails`, one per account. @param busy accounts to skip, because this worker is waiting for their receivers */
export async function takeDueEvents(
  { sql }: Database,
  limit: number,
  busy: readonly string[],
): Promise<DueEvent[]> {
  return sql.query<DueEvent[]>`
    with due as materialized (
      select o.id from outbox o
      where o.account_id is not null and o.account_id <> all(${[...busy]}::uuid[]) and o.due_at <= clock_timestamp() and not exists (
        select from outbox e where e.account_id = o.account_id and e.due_at <= clock_timestamp() and (e.due_at, e.id) < (o.due_at, o.id)
      )
      order by o.due_at limit ${limit}::integer for update of o skip locked
    )
    update outbox o set tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    from due, event_webhooks w where o.id = due.id and w.account_id = o.account_id
    returning o.id, o.account_id as "accountId", o.facts::text as body, w.url, w.encrypted_secret as "encryptedSecret", o.tries,
      o.gives_up_at <= clock_timestamp() as "isOver"`;
}

/** Ends an entry, and deletes the content of a mail. @param answer the status of the response to an event */
export async function endEntry(
  { sql }: Pick<Connection, 'sql'>,
  { id, tries }: Pick<DueMail, 'id' | 'tries'>,
  outcome: 'sent' | 'given_up',
  answer: number | null = null,
): Promise<void> {
  // A person may have repeated the event in the meantime.
  await sql.execute`
    update outbox set outcome = ${outcome}, ended_at = clock_timestamp(), due_at = null, encrypted_link = null,
      facts = case when account_id is null then '{}' else facts end,
      error = case when ${outcome} = 'given_up' then error end, answer = coalesce(${answer}::smallint, answer)
    where id = ${id}::uuid and outcome is null and (account_id is null or tries = ${tries}::integer)`;
}

/** Deletes a mail that has no recipient. */
export async function dropMail({ sql }: Database, id: string): Promise<void> {
  await sql.execute`delete from outbox where id = ${id}::uuid`;
}

/** Postpones an entry after a failed attempt, unless it is too late for another. @param answer the status of the response to an event */
export async function postponeEntry(
  { sql }: Database,
  { id, tries }: Pick<DueMail, 'id' | 'tries'>,
  error: string,
  answer: number | null = null,
): Promise<void> {
  // Two seconds, doubling up to an hour, plus up to a tenth as jitter.
  const seconds = Math.min(2 ** tries, 3_600) * (1 + Math.random() / 10);
  // Another worker may have claimed it in the meantime.
  await sql.execute`
    update outbox set error = ${error}, answer = ${answer}::smallint, due_at = case
        when clock_timestamp() < gives_up_at - ${LAST_TRY}::interval
        then least(clock_timestamp() + make_interval(secs => ${seconds}::float8), gives_up_at - ${LAST_TRY}::interval)
        else gives_up_at
      end
    where id = ${id}::uuid and tries = ${tries}::integer and outcome is null`;
}

/** Deletes entries that ended some days ago, and mails that no worker could give up, because mail has been turned off. */
export async function deleteOldEntries({ sql }: Database): Promise<void> {
  const before = Prisma.sql`clock_timestamp() - make_interval(days => ${KEPT_DAYS}::integer)`;
  await sql.execute`delete from outbox where ended_at < ${before}`;
  await sql.execute`delete from outbox where due_at is not null and gives_up_at < ${before}`;
}

/**
 * The waiting mails, and those given up within a day; none while workers send no mail. A refused address does not count if another mail
 * was sent since: a user may have mistyped it, and the server works.
 */
export interface MailStatistics {
  /** Whether workers send mail. */
  isOn: boolean;
  waiting: number;
  /** How long the oldest waiting mail has waited; null without one. */
  oldestSeconds: number | null;
  givenUp: number;
  /** Why the last failed attempt failed: the codes of the SMTP client and of the server. */
  error: string | null;
}

export async function readMailStatistics({ sql }: Connection): Promise<MailStatistics> {
  const [row] = await sql.query<[MailStatistics]>`
    with server as materialized (
      select mail_from is not null as is_on, (
        select max(ended_at) from outbox where account_id is null and outcome = 'sent'
      ) as sent_at from settings
    )
    select (select is_on from server) as "isOn", count(*) filter (where due_at is not null)::integer as waiting,
      extract(epoch from clock_timestamp() - min(created_at) filter (where due_at is not null))::float8 as "oldestSeconds",
      count(*) filter (where due_at is null)::integer as "givenUp",
      -- Newer mails were tried more recently, because retries slow down.
      (array_agg(error order by due_at is null, created_at desc) filter (where error is not null))[1] as error
    from outbox, server
    where server.is_on and account_id is null and (due_at is not null or (outcome = 'given_up' and ended_at > clock_timestamp() - interval '1 day'))
      and (error like 'EENVELOPE 5%' and created_at < server.sent_at) is not true`;
  return row;
}
