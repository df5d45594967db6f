import { Type } from 'typebox';
import { findAccount, findBalance, listLedger, readSettings } from '@onecode/store';
import { accountReading } from '../../http/accountReading.js';
import { allPages, CSV_PAGE_ROWS, CsvDownload } from '../../http/csv.js';
import { pageFields } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import type { Route } from '../../http/route.js';
import { LEDGER_COLUMNS, ledgerEntryView, ledgerRow, type TrialView } from './view.js';

const KIND = { kind: Type.Optional(Type.Enum(['granted', 'reserved', 'returned'])) };
const STRICT = { additionalProperties: false };

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
      const { trialSendsPerDay } = await readSettings(context.database);
      return { countries: trialCountries, sendsPerDay: trialSendsPerDay };
    },
  }),
  ...accountReading('/ledger', {
    method: 'get',
    query: Type.Object({ ...pageFields, ...KIND }, STRICT),
    async handle({ context, accountId, query }) {
      const { entries, next } = await listLedger(context.database, accountId, query);
      return { entries: entries.map(ledgerEntryView), next };
    },
  }),
  ...accountReading('/ledger.csv', {
    method: 'get',
    query: Type.Object(KIND, STRICT),
    async handle({ context, accountId, query }) {
      return new CsvDownload(
        'ledger',
        LEDGER_COLUMNS,
        allPages(
          accountId,
          (before) =>
            listLedger(context.database, accountId, {
              ...query,
              limit: CSV_PAGE_ROWS,
              ...(before !== undefined && { before }),
            }),
          ({ entries }) => entries.map(ledgerRow),
        ),
      );
    },
  }),
];
