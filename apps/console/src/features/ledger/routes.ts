import { Type } from 'typebox';
import { findAccount, readSettings } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import { setBalanceAlert, findEventWebhook } from '@onecode/store/mails';
import { findBalance, listLedger, readStatement } from '@onecode/store/reports';
import { accountReading } from '../../http/accountReading.js';
import { allPages, csvOf } from '../../http/csv.js';
import { pageFields, strictObject } from '../../http/fields.js';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import {
  LEDGER_COLUMNS,
  STATEMENT_COLUMNS,
  statementRows,
  type BalanceAlertView,
  type StatementOfMonth,
  type TrialView,
} from './view.js';

const KIND = { kind: Type.Optional(Type.Enum(['granted', 'reserved', 'returned', 'reclaimed', 'expired'])) };
const MONTH = strictObject({ month: Type.String({ pattern: '^20\\d{2}-(?:0[1-9]|1[0-2])$' }) });

/** An account's balance, its trial, and its ledger; for staff, those of any account. */
export const ledgerRoutes: readonly Route[] = [
  ...accountReading('get', '/balance', {
    handle: async ({ context, accountId }) => orNotFound(await findBalance(context.database, accountId)),
  }),
  ...accountReading('get', '/trial', {
    async handle({ context, accountId }): Promise<TrialView> {
      const { trialCountries } = orNotFound(await findAccount(context.database, accountId));
      const { trialAccountSendsPerDay } = await readSettings(context.database);
      return { countries: trialCountries, sendsPerDay: trialAccountSendsPerDay };
    },
  }),
  ...accountReading('get', '/balance-alert', {
    async handle({ context, accountId }): Promise<BalanceAlertView> {
      const hasWebhook = (await findEventWebhook(context.database, accountId)) !== null;
      const { balanceAlert } = orNotFound(await findAccount(context.database, accountId));
      return { below: balanceAlert, hasWebhook };
    },
  }),
  route('put', '/accounts/:account/balance-alert', 'admin', {
    body: strictObject({
      below: Type.Union([Type.Integer({ minimum: 1, maximum: 100_000_000 }), Type.Null()]),
    }),
    async handle({ context, actor, accountId, body: { below } }) {
      orNotFound(await setBalanceAlert(context.database, actor, accountId, below));
    },
  }),
  ...accountReading('get', '/ledger', {
    query: strictObject({ ...pageFields, ...KIND }),
    handle: ({ context, accountId, query }) => listLedger(context.database, accountId, query),
  }),
  ...accountReading('get', '/statement', {
    query: MONTH,
    handle: ({ context, accountId, query }) => statementOf(context.database, accountId, query.month),
  }),
  ...accountReading('get', '/statement.csv', {
    query: MONTH,
    async handle({ context, accountId, query: { month } }) {
      const rows = statementRows(await statementOf(context.database, accountId, month));
      return csvOf(`statement-${month}`, STATEMENT_COLUMNS, [rows]);
    },
  }),
  ...accountReading('get', '/ledger.csv', {
    query: strictObject(KIND),
    async handle({ context, accountId, query }) {
      return csvOf(
        'ledger',
        LEDGER_COLUMNS,
        allPages(
          accountId,
          (page) => listLedger(context.database, accountId, { ...query, ...page }),
          ({ entries }) => entries,
        ),
      );
    },
  }),
];

async function statementOf(database: Database, accountId: string, month: string): Promise<StatementOfMonth> {
  const { name } = orNotFound(await findAccount(database, accountId));
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(from);
  to.setUTCMonth(to.getUTCMonth() + 1);
  const statement = orNotFound(await readStatement(database, accountId, from, to));
  return { name, from, to, at: new Date(), ...statement };
}
