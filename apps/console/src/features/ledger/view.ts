import type { Balance, LedgerEntry, Statement, Units } from '@onecode/store';
import type { Json } from '../../http/json.js';

/** The units that an account has left. */
export type BalanceView = Json<Omit<Balance, 'sendsCreated'>>;

/** Whether an account is on trial. */
export interface TrialView {
  /** Countries it may send to while on trial; null when it is not on trial. */
  countries: string[] | null;
  /** Live sends a day (UTC) that all accounts on trial share. */
  sendsPerDay: number;
}

export type LedgerEntryView = Json<LedgerEntry>;

export interface LedgerView {
  entries: LedgerEntryView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export const LEDGER_COLUMNS = [
  'id',
  'at',
  'kind',
  'bucket',
  'change',
  'reason',
  'send_id',
  'free_quota_after',
  'credits_after',
  'reference',
  'expires_at',
];

/** An entry in the download, with `LEDGER_COLUMNS`. */
export const ledgerRow = (entry: LedgerEntry) => [
  entry.id,
  entry.at,
  entry.kind,
  entry.bucket,
  entry.change,
  entry.reason,
  entry.sendId,
  entry.balance.freeQuota,
  entry.balance.credits,
  entry.reference,
  entry.expiresAt,
];

/** An account's statement of a month (UTC): until now, of one that is not over. */
export interface StatementOfMonth extends Statement {
  /** The account's. */
  name: string;
  from: Date;
  to: Date;
  /** When it was made. */
  at: Date;
}

export type StatementView = Json<StatementOfMonth>;

export const STATEMENT_COLUMNS = [
  'at',
  'entry',
  'free_quota',
  'credits',
  'reason',
  'reference',
  'expires_at',
];

/** A statement in the download: what there was, what changed it, and what there is. */
export function statementRows({ from, to, at, grants, ...statement }: StatementOfMonth) {
  const end = new Date(Math.min(to.getTime(), at.getTime()));
  const row = (when: Date, entry: string, units: Units, grant?: Statement['grants'][number]) => [
    when,
    entry,
    units.free_quota,
    units.credit,
    grant?.reason ?? null,
    grant?.reference ?? null,
    grant?.expiresAt ?? null,
  ];
  const gone = ({ free_quota: free, credit }: Units): Units => ({ free_quota: -free, credit: -credit });
  return [
    row(from, 'opening', statement.opening),
    ...grants.map((grant) =>
      row(grant.at, 'granted', { free_quota: 0, credit: 0, [grant.bucket]: grant.units }, grant),
    ),
    row(end, 'reserved', gone(statement.reserved)),
    row(end, 'returned', statement.returned),
    row(end, 'lapsed', gone(statement.lapsed)),
    row(end, 'closing', statement.closing),
  ];
}

/** The balance below which the account's admins are told by mail, and its webhook where it has one; null: never. */
export interface BalanceAlertView {
  below: number | null;
  hasWebhook: boolean;
}
