import type { Connection, Database } from '../client/database.js';
import { Prisma } from '../generated/prisma/client.js';

/** Who changes something by hand. */
export interface Actor {
  kind: 'user' | 'command_line';
  /** The console's user; null for the command line, and for somebody who failed to sign in. */
  id: string | null;
  name: string;
}

/** Somebody who has not signed in yet. */
export const NOT_SIGNED_IN: Actor = { kind: 'user', id: null, name: 'not signed in' };

/** What the audit log gets of a change, a sign-in or a read. */
export interface NewAuditEntry {
  /** `area.verb`, such as `account.credit`. */
  action: string;
  /** Left out where no account is concerned. */
  accountId?: string | null;
  /** The id or name of what was changed. */
  subject: string | null;
  /** Before and after, never a secret. */
  details?: Record<string, unknown>;
}

/** Milliseconds; longer than the pool waits for a connection, since the pool's own error says more. */
const TRANSACTION = { maxWait: 5_000, timeout: 5_000 };

/** Writes an entry into the audit log. */
type Log = (entry: NewAuditEntry) => Promise<void>;

/** Runs a change in one transaction with the entry that it logs; it logs none when it found or changed nothing. */
export function audited<R>(
  database: Database,
  actor: Actor,
  change: (connection: Connection, log: Log) => Promise<R>,
): Promise<R> {
  return database.transaction(
    (connection) => change(connection, (entry) => logEntry(connection, actor, entry)),
    TRANSACTION,
  );
}

/** Writes an entry into the audit log. */
export async function logEntry(
  { sql }: Connection,
  actor: Actor,
  { action, accountId = null, subject, details = {} }: NewAuditEntry,
): Promise<void> {
  await sql.execute`
    insert into audit_entries (actor_kind, actor_id, actor_name, action, account_id, subject, details)
    values (${actor.kind}, ${actor.id}::uuid, ${actor.name}, ${action}, ${accountId}::uuid, ${subject},
      ${JSON.stringify(details)}::jsonb)`;
}

export interface AuditEntry {
  id: string;
  at: Date;
  actor: Actor;
  action: string;
  accountId: string | null;
  accountName: string | null;
  subject: string | null;
  details: Record<string, unknown>;
}

type EntryRow = Omit<AuditEntry, 'actor'> & { kind: Actor['kind']; actorId: string | null; name: string };

/** Sorts above every character of an action. */
const AFTER_PREFIX = '~';

/**
 * Newest first. `before` is the id of the last entry of the page before. `actionPrefix` is an action or the beginning of several:
 * `settings.` is the history of the settings, each entry with `{name, before, after}`.
 */
export async function listAuditEntries(
  database: Connection,
  filter: { accountId?: string; actionPrefix?: string; before?: string; limit: number },
): Promise<AuditEntry[]> {
  const { accountId, actionPrefix, before, limit } = filter;
  const conditions = [
    ...(accountId === undefined ? [] : [Prisma.sql`e.account_id = ${accountId}::uuid`]),
    ...(actionPrefix === undefined
      ? []
      : [Prisma.sql`e.action >= ${actionPrefix} and e.action < ${actionPrefix + AFTER_PREFIX}`]),
    ...(before === undefined ? [] : [Prisma.sql`e.id < ${before}::bigint`]),
  ];
  const where =
    conditions.length === 0 ? Prisma.empty : Prisma.sql`where ${Prisma.join(conditions, ' and ')}`;
  const rows = await database.sql.query<EntryRow[]>`
    select e.id::text, e.at, e.actor_kind as kind, e.actor_id as "actorId", e.actor_name as name, e.action,
      e.account_id as "accountId", a.name as "accountName", e.subject, e.details
    from audit_entries e left join accounts a on a.id = e.account_id
    ${where} order by e.id desc limit ${limit}::integer`;
  return rows.map(({ kind, actorId, name, ...entry }) => ({ ...entry, actor: { kind, id: actorId, name } }));
}

/** The ids of those entries that this database does not have: a later one, of the time that a backup lacks, may have the id of another. */
export async function findLostEntries(
  { sql }: Connection,
  entries: readonly Pick<AuditEntry, 'id' | 'at'>[],
): Promise<ReadonlySet<string>> {
  const rows = await sql.query<{ id: string }[]>`
    select w.id::text from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as w (id bigint, at timestamptz)
    where not exists (select from audit_entries e where e.id = w.id and e.at = w.at)`;
  return new Set(rows.map(({ id }) => id));
}

/** The fields that differ between two states, as the audit log records them; null when none does. */
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
