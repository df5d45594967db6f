import type { Balance, LedgerEntry, Statement, Units } from '@onecode/store/reports';
import type { CsvColumns } from '../../http/csv.js';
import type { Json } from '../../http/json.js';

/** The units that an account has left. */
export type BalanceView = Json<Balance>;

/** Whether an account is on trial. */
export interface TrialView {
  /** Countries it may send to while on trial; null when it is not on trial. */
  countries: string[] | null;
  /** Live sends per day (UTC) that it may create while on trial. */
  sendsPerDay: number;
}

export type LedgerEntryView = Json<LedgerEntry>;

export interface LedgerView {
  entries: LedgerEntryView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export const LEDGER_COLUMNS: CsvColumns<LedgerEntry> = {
  id: (entry) => entry.id,
  at: (entry) => entry.at,
  kind: (entry) => entry.kind,
  bucket: (entry) => entry.bucket,
  change: (entry) => entry.change,
  reason: (entry) => entry.reason,
  send_id: (entry) => entry.sendId,
  free_quota_after: ({ balance }) => balance.freeQuota,
  credits_after: ({ balance }) => balance.credits,
  reference: (entry) => entry.reference,
  expires_at: (entry) => entry.expiresAt,
};

/** An account's statement of a month (UTC); for the current month, up to now. */
export interface StatementOfMonth extends Statement {
  /** The name of the account. */
  name: string;
  from: Date;
  to: Date;
  at: Date;
}

export type StatementView = Json<StatementOfMonth>;

interface StatementRow {
  at: Date;
  entry: string;
  units: Units;
  grant?: Statement['grants'][number];
}

export const STATEMENT_COLUMNS: CsvColumns<StatementRow> = {
  at: ({ at }) => at,
  entry: ({ entry }) => entry,
  free_quota: ({ units }) => units.free_quota,
  credits: ({ units }) => units.credit,
  reason: ({ grant }) => grant?.reason ?? null,
  reference: ({ grant }) => grant?.reference ?? null,
  expires_at: ({ grant }) => grant?.expiresAt ?? null,
};

/** A statement in the download: opening balance, changes, and closing balance. */
export function statementRows({ from, to, at: now, grants, ...statement }: StatementOfMonth): StatementRow[] {
  const at = new Date(Math.min(to.getTime(), now.getTime()));
  const gone = ({ free_quota: free, credit }: Units): Units => ({ free_quota: -free, credit: -credit });
  return [
    { at: from, entry: 'opening', units: statement.opening },
    ...grants.map((grant) => ({
      at: grant.at,
      entry: 'granted',
      units: { free_quota: 0, credit: 0, [grant.bucket]: grant.units },
      grant,
    })),
    { at, entry: 'reserved', units: gone(statement.reserved) },
    { at, entry: 'returned', units: statement.returned },
    { at, entry: 'reclaimed', units: gone(statement.reclaimed) },
    { at, entry: 'expired', units: gone(statement.expired) },
    { at, entry: 'closing', units: statement.closing },
  ];
}

/** The balance below which the account's admins (by mail) and its webhook are notified; null if never. */
export interface BalanceAlertView {
  below: number | null;
  hasWebhook: boolean;
}
