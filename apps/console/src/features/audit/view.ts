import type { AuditEntry } from '@onecode/store';

/** A value of a change, as the log keeps it. */
export type AuditValue = string | number | boolean | null | AuditValue[] | { [name: string]: AuditValue };

/** What somebody changed or read, or how they signed in. */
export interface AuditEntryView {
  id: string;
  at: string;
  /** `nobody` has not shown who they are. */
  actor: { kind: 'user' | 'command_line' | 'nobody'; name: string };
  /** `area.verb`. */
  action: string;
  account: { id: string; /** Null when it is gone. */ name: string | null } | null;
  /** The id or name of what was changed, where it is not the account. */
  subject: string | null;
  /** Fields with what they became and, unless they are of something new, what they were. */
  changes: { field: string; before?: AuditValue; after: AuditValue }[];
  /** What else is known of it, such as the reason. */
  facts: { field: string; value: AuditValue }[];
}

export interface AuditPageView {
  entries: AuditEntryView[];
  /** The cursor of the next page. */
  next: string | null;
}

type Details = Record<string, AuditValue>;

export function auditEntryView({ id, at, actor, action, ...entry }: AuditEntry): AuditEntryView {
  return {
    id,
    at: at.toISOString(),
    actor: {
      kind: actor.kind === 'user' && actor.id === null ? 'nobody' : actor.kind,
      name: actor.name,
    },
    action,
    account: entry.accountId === null ? null : { id: entry.accountId, name: entry.accountName },
    ...withoutRepeats(
      entry.subject === actor.id ? null : entry.subject,
      entry.accountId,
      detailsView(entry.details as Details),
    ),
  };
}

type Told = Pick<AuditEntryView, 'changes' | 'facts'>;

/** Leaves out the subject where actor, account or details name it already, and facts that say nothing more than the account does. */
function withoutRepeats(
  subject: string | null,
  accountId: string | null,
  { changes, facts }: Told,
): Told & Pick<AuditEntryView, 'subject'> {
  const isTold =
    subject === accountId ||
    changes.some(({ field }) => field === subject) ||
    facts.some(({ value }) => value === subject);
  return {
    subject: isTold ? null : subject,
    changes,
    facts: facts.filter(({ value }) => value !== '' && value !== accountId),
  };
}

const isRecord = (value: AuditValue | undefined): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Details hold `before` and `after`, either of many fields or, with the field's `name`, of one; all else is a fact. */
function detailsView(details: Details): Told {
  const { before, after, ...rest } = details;
  const facts = (from: Details) => Object.entries(from).map(([field, value]) => ({ field, value }));
  if (isRecord(before) || isRecord(after)) {
    const became = isRecord(after) ? after : {};
    const fields = [...new Set([...Object.keys(isRecord(before) ? before : {}), ...Object.keys(became)])];
    return {
      changes: fields.map((field) => ({
        field,
        ...(isRecord(before) && { before: before[field] ?? null }),
        after: became[field] ?? null,
      })),
      facts: facts(rest),
    };
  }
  const { name, ...others } = rest;
  if (typeof name === 'string' && after !== undefined)
    return { changes: [{ field: name, before: before ?? null, after }], facts: facts(others) };
  return { changes: [], facts: facts(details) };
}
