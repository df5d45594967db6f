import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';
import { writeSecurityNotice } from '../mails/securityNotices.js';

/** The person, staff member or command line that makes a change. */
export interface Actor {
  /** `staff` acts for the service; `user` for an account, or for themselves. */
  kind: 'user' | 'staff' | 'command_line';
  /** The console's user; null for the command line, and for a failed sign-in. */
  id: string | null;
  /** Of a user, the e-mail address: users choose any display name. */
  name: string;
}

export const NOT_SIGNED_IN: Actor = { kind: 'user', id: null, name: 'not signed in' };

/** An entry about a change, a sign-in or a read. */
export interface NewAuditEntry {
  /** `area.verb`, such as `account.credit`. */
  action: string;
  /** Omitted if no account is affected. */
  accountId?: string | null;
  /** The id or name of the changed object. */
  subject: string | null;
  /** The state before and after, without secrets. */
  details?: Record<string, unknown>;
}

/** How many last digits of a phone number an entry may hold. */
export const DIGITS_SHOWN = 4;

export type Log = (entry: NewAuditEntry) => Promise<void>;

/**
 * Runs a change in one transaction with the audit entry that it logs: in a new one, or in the transaction of the given connection. If the
 * change found or changed nothing, no entry is written.
 *
 * @param options the new transaction's timeout in milliseconds
 */
export function audited<R>(
  database: Database | Connection,
  actor: Actor,
  change: (connection: Connection, log: Log) => Promise<R>,
  options?: { timeout: number },
): Promise<R> {
  const run = (connection: Connection): Promise<R> =>
    change(connection, (entry) => logEntry(connection, actor, entry));
  return 'transaction' in database ? database.transaction(run, options) : run(database);
}

/** A row to change, and the action for the audit log. */
interface RowChange<State> {
  action: string;
  table: 'accounts' | 'applications' | 'senders';
  id: string;
  /** Returns the state that the audit log compares; null if there is no such row. */
  read: (connection: Connection) => Promise<State | null>;
}

/**
 * Changes a row under its lock, so that `before` in the audit log is the state that was changed.
 *
 * @param change may return details for the audit log in addition to the changed fields
 * @returns the new state, or null if there is no such row
 */
export function changeRow<State extends object>(
  database: Database,
  actor: Actor,
  { action, table, id, read }: RowChange<State>,
  change: (connection: Connection, before: State) => Promise<object | void>,
): Promise<State | null> {
  return audited(database, actor, async (connection, log) => {
    await connection.sql.execute`select from ${Prisma.raw(table)} where id = ${id}::uuid for no key update`;
    const before = await read(connection);
    if (before === null) return null;
    const details = await change(connection, before);
    const after = (await read(connection)) ?? before;
    const changes = { ...changedFields(before, after), ...details };
    const accountOf = (state: { accountId?: string | null }) => state.accountId;
    const accountId = table === 'accounts' ? id : (accountOf(after) ?? accountOf(before) ?? null);
    if (Object.keys(changes).length > 0) await log({ action, accountId, subject: id, details: changes });
    return after;
  });
}

/** Writes an entry into the audit log, and mails the people affected by it. */
export async function logEntry(
  connection: Connection,
  actor: Actor,
  { action, accountId = null, subject, details = {} }: NewAuditEntry,
): Promise<void> {
  const [{ id }] = await connection.sql.query<[{ id: string }]>`
    insert into audit_entries (actor_kind, actor_id, actor_name, action, account_id, subject, details)
    values (${actor.kind}, ${actor.id}::uuid, ${actor.name}, ${action}, ${accountId}::uuid, ${subject},
      ${JSON.stringify(details)}::jsonb)
    returning id::text`;
  await writeSecurityNotice(connection, actor, { action, accountId, subject, details }, id);
}

export interface AuditEntry {
  id: string;
  at: Date;
  actor: Actor;
  action: string;
  accountId: string | null;
  accountName: string | null;
  subject: string | null;
  /** The name of the application, the number of the sender or the e-mail address of the user that is the subject; otherwise null. */
  subjectName: string | null;
  /** The name of the application in the details. */
  applicationName: string | null;
  details: Record<string, unknown>;
}

type EntryRow = Omit<AuditEntry, 'actor'> & { kind: Actor['kind']; actorId: string | null; name: string };

/** The display names of the objects in entries. */
const NAMED = Prisma.sql`
  select id, name from applications union all select id, number from senders union all select id, email from users`;

const ID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** A character that sorts after every character of an action. */
const AFTER_PREFIX = '~';

/** Which entries to list; omitted fields match every entry. */
export interface AuditFilter {
  accountId?: string;
  /** An action, or the common prefix of several: `settings.` is the history of the settings. */
  actionPrefix?: string;
  /** Part of the actor's name, case-insensitive. */
  person?: string;
  /** Part of the id, the name or the key hint of the changed object, case-insensitive. */
  object?: string;
  /** Inclusive. */
  from?: Date;
  /** Exclusive. */
  to?: Date;
  /** Whether the readers are members of the account. They see that staff acted, without the details. */
  isForMembers?: boolean;
}

/** Returns entries, newest first. `before` is the id of the last entry of the previous page. */
export async function listAuditEntries(
  database: Connection,
  { before, limit, ...filter }: AuditFilter & { before?: string; limit: number },
): Promise<AuditEntry[]> {
  const rows = await database.sql.query<EntryRow[]>`
    select e.id::text, e.at, e.actor_kind as kind, e.actor_id as "actorId", e.actor_name as name, e.action,
      e.account_id as "accountId", a.name as "accountName", e.subject,
      (select n.name from (${NAMED}) n where n.id = case when e.subject ~ ${ID} then e.subject::uuid end) as "subjectName",
      (select name from applications where id = (e.details ->> 'applicationId')::uuid) as "applicationName", e.details
    from audit_entries e left join accounts a on a.id = e.account_id
    where ${before === undefined ? Prisma.sql`true` : Prisma.sql`e.id < ${before}::bigint`} and ${toConditions(filter)}
    order by e.id desc limit ${limit}::integer`;
  return rows.map(({ kind, actorId, name, ...entry }) =>
    filter.isForMembers === true && kind !== 'user'
      ? { ...entry, actor: { kind: 'staff', id: null, name: '' }, details: {}, applicationName: null }
      : { ...entry, actor: { kind, id: actorId, name } },
  );
}

function toConditions({
  accountId,
  actionPrefix,
  person,
  object,
  from,
  to,
  isForMembers = false,
}: AuditFilter): Prisma.Sql {
  const conditions = [
    accountId !== undefined && Prisma.sql`e.account_id = ${accountId}::uuid`,
    actionPrefix !== undefined &&
      Prisma.sql`e.action >= ${actionPrefix} and e.action < ${actionPrefix + AFTER_PREFIX}`,
    person !== undefined &&
      Prisma.sql`strpos(lower(e.actor_name), lower(${person})) > 0
        and (e.actor_kind = 'user' or not ${isForMembers}::boolean)`,
    object !== undefined &&
      Prisma.sql`(strpos(lower(e.subject), lower(${object})) > 0 or strpos(lower(e.details ->> 'hint'), lower(${object})) > 0
        or e.subject in (select n.id::text from (${NAMED}) n where strpos(lower(n.name), lower(${object})) > 0))`,
    from !== undefined && Prisma.sql`e.at >= ${from}::timestamptz`,
    to !== undefined && Prisma.sql`e.at < ${to}::timestamptz`,
  ].filter((condition) => condition !== false);
  return conditions.length === 0 ? Prisma.sql`true` : Prisma.join(conditions, ' and ');
}

/**
 * Returns the ids of the given entries that this database does not have. Ids alone are not enough: after a restore, a new entry may get the
 * id of one that the backup lacks.
 */
export async function findLostEntries(
  { sql }: Connection,
  entries: readonly Pick<AuditEntry, 'id' | 'at'>[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }[]>`
    select w.id::text from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as w (id bigint, at timestamptz)
    where not exists (select from audit_entries e where e.id = w.id and e.at = w.at)`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns the fields that differ between two states, as the audit log records them; null if none differ. */
export function changedFields<State extends object>(
  before: State,
  after: State,
): { before: Partial<State>; after: Partial<State> } | null {
  const names = (Object.keys(after) as (keyof State)[]).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  if (names.length === 0) return null;
  const pick = (state: State): Partial<State> =>
    Object.fromEntries(names.map((name) => [name, state[name]])) as Partial<State>;
  return { before: pick(before), after: pick(after) };
}
