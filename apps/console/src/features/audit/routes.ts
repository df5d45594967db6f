import { Type, type Static } from 'typebox';
import { listAuditEntries, type AuditEntry, type AuditFilter } from '@onecode/store/operations';
import type { ConsoleContext } from '../../context.js';
import { allPages, csvOf, type CsvDownload } from '../../http/csv.js';
import { idField, strictObject, timeField } from '../../http/fields.js';
import { route, type Route } from '../../http/route.js';
import { AUDIT_COLUMNS, auditPageView, type AuditPageView } from './view.js';

const textField = Type.String({ minLength: 1, maxLength: 254, pattern: '^[^\\p{Cc}\\p{Cs}]*$' });
const FILTER_FIELDS = {
  /** The part of an action before the dot. */
  area: Type.Optional(Type.String({ pattern: '^[a-z_]{1,50}$' })),
  /** A part of the actor's name. */
  person: Type.Optional(textField),
  /** An id, or a part of the name, of the changed object. */
  object: Type.Optional(textField),
  /** Inclusive. */
  from: Type.Optional(timeField),
  /** Exclusive. */
  to: Type.Optional(timeField),
};
const PAGE_FIELDS = {
  before: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
};
const FILTER = strictObject(FILTER_FIELDS);
const OF_ANY_ACCOUNT = { account: Type.Optional(idField) };

/** The audit log: all of it for staff, and the entries of an account for its admins. */
export const auditRoutes: readonly Route[] = [
  route('get', '/staff/audit', 'on_call', {
    query: strictObject({ ...FILTER_FIELDS, ...OF_ANY_ACCOUNT, ...PAGE_FIELDS }),
    async handle({ context, query: { before, limit, account, ...query } }): Promise<AuditPageView> {
      return auditPageView(await read(context, filterOf(query, account), { before, limit }));
    },
  }),
  route('get', '/staff/audit.csv', 'on_call', {
    query: strictObject({ ...FILTER_FIELDS, ...OF_ANY_ACCOUNT }),
    async handle({ context, actor, query: { account, ...query } }) {
      return download(context, actor.name, filterOf(query, account));
    },
  }),
  route('get', '/accounts/:account/audit', 'admin', {
    query: strictObject({ ...FILTER_FIELDS, ...PAGE_FIELDS }),
    async handle({ context, accountId, query: { before, limit, ...query } }): Promise<AuditPageView> {
      const filter = { ...filterOf(query, accountId), isForMembers: true };
      return auditPageView(await read(context, filter, { before, limit }));
    },
  }),
  route('get', '/accounts/:account/audit.csv', 'admin', {
    query: FILTER,
    async handle({ context, accountId, query }) {
      return download(context, accountId, { ...filterOf(query, accountId), isForMembers: true });
    },
  }),
];

function filterOf(
  { area, from, to, ...query }: Static<typeof FILTER>,
  accountId: string | undefined,
): AuditFilter {
  return {
    ...query,
    ...(accountId !== undefined && { accountId }),
    ...(area !== undefined && { actionPrefix: `${area}.` }),
    ...(from !== undefined && { from: new Date(from) }),
    ...(to !== undefined && { to: new Date(to) }),
  };
}

async function read(
  { database }: ConsoleContext,
  filter: AuditFilter,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<{ entries: AuditEntry[]; next: string | null }> {
  const found = await listAuditEntries(database, {
    ...filter,
    ...(before !== undefined && { before }),
    limit: limit + 1,
  });
  const entries = found.slice(0, limit);
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
}

const download = (context: ConsoleContext, key: string, filter: AuditFilter): CsvDownload =>
  csvOf(
    'audit',
    AUDIT_COLUMNS,
    allPages(
      key,
      (page) => read(context, filter, page),
      ({ entries }) => entries,
    ),
  );
