import { Type } from 'typebox';
import { listAuditEntries } from '@onecode/store';
import { idField } from '../../http/fields.js';
import { route, type Route } from '../../http/route.js';
import { auditEntryView, type AuditPageView } from './view.js';

/** The audit log: who changed or read what, and who signed in. */
export const auditRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/staff/audit',
    access: 'on_call',
    query: Type.Object({
      account: Type.Optional(idField),
      /** The part of an action before the dot. */
      area: Type.Optional(Type.String({ pattern: '^[a-z_]{1,50}$' })),
      before: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$' })),
      limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
    }),
    async handle({ context, query: { account, area, before, limit } }): Promise<AuditPageView> {
      const found = await listAuditEntries(context.database, {
        ...(account !== undefined && { accountId: account }),
        ...(area !== undefined && { actionPrefix: `${area}.` }),
        ...(before !== undefined && { before }),
        limit: limit + 1,
      });
      const entries = found.slice(0, limit).map(auditEntryView);
      return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
    },
  }),
];
