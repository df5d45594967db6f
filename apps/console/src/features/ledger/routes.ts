import { Type } from 'typebox';
import { findAccount, findBalance, listLedger } from '@onecode/store';
import { accountReading } from '../../http/accountReading.js';
import { pageFields } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import { ledgerEntryView, type TrialView } from './view.js';

/** An account's balance, its trial, and its ledger; for staff, those of any account. */
export const ledgerRoutes: readonly Route[] = [
  ...accountReading('/balance', {
    method: 'get',
    async handle({ context, accountId }) {
      const { freeQuota, credits } = orNotFound(await findBalance(context.database, accountId));
      return { freeQuota, credits };
    },
  }),
  ...accountReading('/trial', {
    method: 'get',
    async handle({ context, accountId }): Promise<TrialView> {
      const { trialCountries } = orNotFound(await findAccount(context.database, accountId));
      return { countries: trialCountries };
    },
  }),
  ...accountReading('/ledger', {
    method: 'get',
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
