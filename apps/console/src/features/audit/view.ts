import type { CsvColumns } from '../../http/csv.js';
import { isId } from '@onecode/store/client';
import type { Actor, AuditEntry } from '@onecode/store/operations';

/** A value as the log stores it. */
export type AuditValue = string | number | boolean | null | AuditValue[] | { [name: string]: AuditValue };

/** A change, a read or a sign-in. */
export interface AuditEntryView {
  id: string;
  at: string;
  /** `anonymous`: a person who is not signed in. The name is empty if the reader may not know it. */
  actor: { kind: Actor['kind'] | 'anonymous'; name: string };
  /** `area.verb`. */
  action: string;
  account: { id: string; /** Null if it was deleted. */ name: string | null } | null;
  /** The name of the changed object; null if it has none, or if other fields contain it. */
  subject: string | null;
  /** The send that was read. */
  sendId: string | null;
  /** Changed fields; `before` is missing for something new. */
  changes: { field: string; before?: AuditValue; after: AuditValue }[];
  /** Further details, such as the reason. */
  facts: { field: string; value: AuditValue }[];
}

export interface AuditPageView {
  entries: AuditEntryView[];
  /** The cursor of the next page. */
  next: string | null;
}

type Details = Record<string, AuditValue>;

export const auditPageView = ({
  entries,
  next,
}: {
  entries: AuditEntry[];
  next: string | null;
}): AuditPageView => ({ entries: entries.map(auditEntryView), next });

function auditEntryView({ id, at, actor, action, ...entry }: AuditEntry): AuditEntryView {
  const isSend = action === 'send.read';
  const { applicationName } = entry;
  const details = entry.details as Details;
  return {
    id,
    at: at.toISOString(),
    actor: {
      kind: actor.kind === 'user' && actor.id === null ? 'anonymous' : actor.kind,
      name: actor.name,
    },
    action,
    account: entry.accountId === null ? null : { id: entry.accountId, name: entry.accountName },
    sendId: isSend ? entry.subject : null,
    ...withoutRepeats(
      isSend || entry.subject === actor.id ? null : (entry.subjectName ?? entry.subject),
      entry.accountId,
      detailsView(applicationName === null ? details : { ...details, applicationId: applicationName }),
    ),
  };
}

export const AUDIT_COLUMNS: CsvColumns<AuditEntry> = {
  id: (entry) => entry.id,
  at: (entry) => entry.at,
  actor_kind: ({ actor }) => actor.kind,
  actor: ({ actor }) => actor.name,
  action: (entry) => entry.action,
  account_id: (entry) => entry.accountId,
  account: (entry) => entry.accountName,
  subject: (entry) => entry.subject,
  subject_name: (entry) => entry.subjectName,
  details: ({ details }) => JSON.stringify(details),
};

type EntryDetails = Pick<AuditEntryView, 'changes' | 'facts'>;

/** Omits a subject without a name or that other fields already name, and facts that are empty or repeat the account. */
function withoutRepeats(
  subject: string | null,
  accountId: string | null,
  { changes, facts }: EntryDetails,
): EntryDetails & Pick<AuditEntryView, 'subject'> {
  const isKnown =
    changes.some(({ field, before, after }) => [field, before, after].includes(subject)) ||
    facts.some(({ value }) => value === subject);
  return {
    subject: isKnown || (subject !== null && isId(subject)) ? null : subject,
    changes,
    facts: facts.filter(({ value }) => value !== '' && value !== accountId),
  };
}

const isRecord = (value: AuditValue | undefined): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads details: `before` and `after` contain the changed fields. Everything else is a fact. */
function detailsView({ before, after, ...facts }: Details): EntryDetails {
  const values = isRecord(after) ? after : {};
  const fields = new Set([...Object.keys(isRecord(before) ? before : {}), ...Object.keys(values)]);
  return {
    changes: [...fields].map((field) => ({
      field,
      ...(isRecord(before) && { before: before[field] ?? null }),
      after: values[field] ?? null,
    })),
    facts: Object.entries(facts).map(([field, value]) => ({ field, value })),
  };
}
