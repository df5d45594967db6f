import { seal, stopSubject, type Keyring, type Stop } from '@onecode/domain';
import { audited, changedFields, type Actor } from '../audit/audit.js';
import type { Connection, Database } from '../client/database.js';
import { newId } from '../client/ids.js';
import { Prisma } from '../generated/prisma/client.js';
import { listStops } from './stops.js';

/** A sender as operators see it, without its token. */
export interface Sender {
  id: string;
  phoneNumberId: string;
  number: string;
  /** The provider's id of the business account that the number belongs to; null until it is known. */
  businessAccountId: string | null;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  /** Messages a second that the provider accepts from it, 1 to 1,000. */
  throughput: number;
  /** Its own, its business account's and the app's, as far as they are not over. */
  stops: Stop[];
  createdAt: Date;
}

const SELECTED = {
  id: true,
  phoneNumberId: true,
  number: true,
  businessAccountId: true,
  template: true,
  englishTemplateLanguage: true,
  throughput: true,
  createdAt: true,
} as const;

export interface NewSender {
  phoneNumberId: string;
  /** E.164. */
  number: string;
  /** Left out: a read of the provider finds it. */
  businessAccountId?: string | undefined;
  token: string;
  template: string;
  englishTemplateLanguage: 'en' | 'en_US';
  /** Left out: the provider's usual 80 messages a second. */
  throughput?: number;
}

/** Adds a sender, with its token sealed. @returns null when another sender has the phone number id */
export async function addSender(
  database: Database,
  actor: Actor,
  keyring: Keyring,
  sender: NewSender,
): Promise<Sender | null> {
  const { token, businessAccountId = null, ...rest } = sender;
  const id = newId();
  try {
    return await audited(database, actor, async (connection, log) => {
      const made = await connection.prisma.sender.create({
        data: { id, ...rest, businessAccountId, sealedToken: new Uint8Array(seal(keyring, id, token)) },
        select: SELECTED,
      });
      const { phoneNumberId, template, englishTemplateLanguage, throughput } = made;
      const account = businessAccountId === null ? {} : { businessAccountId };
      const details = {
        after: { phoneNumberId, ...account, template, englishTemplateLanguage, throughput },
      };
      await log({ action: 'sender.add', subject: id, details });
      return { ...made, stops: [] } as Sender;
    });
  } catch (error) {
    if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return null;
    throw error;
  }
}

/** All senders, oldest first. */
export async function listSenders(database: Connection): Promise<Sender[]> {
  const rows = await database.prisma.sender.findMany({ orderBy: { id: 'asc' }, select: SELECTED });
  return withStops(database, rows);
}

/** What a call to the provider needs to know of a sender. */
export interface SenderDetails extends Pick<
  Sender,
  'id' | 'phoneNumberId' | 'number' | 'businessAccountId' | 'template' | 'englishTemplateLanguage' | 'stops'
> {
  sealedToken: Uint8Array;
}

/** The details of all senders, stopped ones too: `take_send_slots` decides which of them may send. */
export async function listSenderDetails(database: Connection): Promise<SenderDetails[]> {
  const rows = await database.prisma.sender.findMany({ select: { ...SELECTED, sealedToken: true } });
  return withStops(database, rows);
}

async function withStops<
  Row extends { id: string; businessAccountId: string | null; englishTemplateLanguage: string },
>(
  database: Connection,
  rows: readonly Row[],
): Promise<(Row & Pick<Sender, 'stops' | 'englishTemplateLanguage'>)[]> {
  const stops = await listStops(database);
  return rows.map((row) => ({
    ...row,
    englishTemplateLanguage: row.englishTemplateLanguage as Sender['englishTemplateLanguage'],
    stops: stops.filter(({ scope, subject }) => subject === stopSubject(scope, row)),
  }));
}

/** Pauses a sender until an operator resumes it. One that is paused already keeps its time and reason. @returns null when there is no such sender */
export async function pauseSender(
  database: Database,
  actor: Actor,
  id: string,
  reason = 'paused by an operator',
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.pause', id, async (connection) => {
    const written = await connection.sql.execute`
      insert into stops (cause, scope, subject, source, reason, since)
      values ('operator', 'sender', ${id}, 'operator', ${reason}, clock_timestamp())
      on conflict do nothing`;
    return written === 1 ? { reason } : {};
  });
}

/**
 * Ends what stops a sender: an operator's pause, the provider's word about its number, and what faults of its own or of its business
 * account stopped; what was begun before begins nothing again. What the provider says about a template stays, since the next call would
 * meet it, and so does a limit.
 *
 * @returns null when there is no such sender
 */
export async function resumeSender(database: Database, actor: Actor, id: string): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.resume', id, async ({ sql }) => {
    const ended = await sql.query<{ reason: string }[]>`
      with standing as materialized (
        -- In the order in which \`take_send_slots\` locks them.
        select t.cause, t.scope, t.subject, t.only_for from stops t join senders r on t.subject = stop_subject(t.scope, r.id, r.business_account_id)
        where r.id = ${id}::uuid and t.failures > 0 and (t.cause in ('operator', 'fault') or t.cause = 'provider' and t.only_for = '')
        order by t.cause, t.scope, t.subject, t.only_for for update of t
      ), told as (
        delete from stops t using standing k
        where (t.cause, t.scope, t.subject, t.only_for) = (k.cause, k.scope, k.subject, k.only_for) and t.cause <> 'fault'
        returning t.reason
      ), met as (
        update stops t set failures = 0, until = clock_timestamp(), proven_at = clock_timestamp() from standing k
        where (t.cause, t.scope, t.subject, t.only_for) = (k.cause, k.scope, k.subject, k.only_for) and t.cause = 'fault'
        returning t.reason
      )
      select reason from told union all select reason from met`;
    return ended.length === 0 ? {} : { ended: ended.map(({ reason }) => reason) };
  });
}

/** Changes a sender's messages a second. @returns null when there is no such sender */
export async function changeThroughput(
  database: Database,
  actor: Actor,
  id: string,
  throughput: number,
): Promise<Sender | null> {
  return changeSender(database, actor, 'sender.change_throughput', id, async (connection) => {
    await connection.prisma.sender.updateMany({ where: { id }, data: { throughput } });
    return {};
  });
}

/** Changes a sender under its lock, so that the audit log's `before` is what the change found. `change` returns further details. */
async function changeSender(
  database: Database,
  actor: Actor,
  action: string,
  id: string,
  change: (connection: Connection) => Promise<Record<string, unknown>>,
): Promise<Sender | null> {
  return audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from senders where id = ${id}::uuid for no key update`;
    const before = await connection.prisma.sender.findUnique({ where: { id }, select: SELECTED });
    if (before === null) return null;
    const more = await change(connection);
    const after = await connection.prisma.sender.findUniqueOrThrow({ where: { id }, select: SELECTED });
    const details = { ...changedFields(before, after), ...more };
    if (Object.keys(details).length > 0) await log({ action, subject: id, details });
    const [sender] = await withStops(connection, [after]);
    return sender ?? null;
  });
}
