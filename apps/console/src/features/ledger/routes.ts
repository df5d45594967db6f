import { Type } from 'typebox';
import { findAccount, findBalance, listLedger, readSettings } from '@onecode/store';
import { pageFields } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { ledgerEntryView, type TrialView } from './view.js';

/** An account's balance, its trial, and its ledger. */
export const ledgerRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/accounts/:account/balance',
    access: 'viewer',
    async handle({ context, accountId }) {
      const { freeQuota, credits } = orNotFound(await findBalance(context.database, accountId));
      return { freeQuota, credits };
    },
  }),
  route({
    method: 'get',
    path: '/accounts/:account/trial',
    access: 'viewer',
    async handle({ context, accountId }): Promise<TrialView> {
      const { trialCountries } = orNotFound(await findAccount(context.database, accountId));
      const { trialSendsPerDay } = await readSettings(context.database);
      return { countries: trialCountries, sendsPerDay: trialSendsPerDay };
    },
  }),
  route({
    method: 'get',
    path: '/accounts/:account/ledger',
    access: 'viewer',
    query: Type.Object(
      { ...pageFields, kind: Type.Optional(Type.Enum(['granted', 'reserved', 'returned'])) },
      { additionalProperties: false },
    ),
    async handle({ context, accountId, query }) {
      const { entries, next } = await listLedger(context.database, accountId, query);
      return { entries: entries.map(ledgerEntryView), next };
    },
  }),
];
