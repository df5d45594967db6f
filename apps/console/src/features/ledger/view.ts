import type { Balance, LedgerEntry } from '@onecode/store';
import type { Json } from '../../http/json.js';

/** The units that an account has left. */
export type BalanceView = Pick<Balance, 'freeQuota' | 'credits'>;

/** Whether an account is on trial. */
export interface TrialView {
  /** Countries it may send to while on trial; null when it is not on trial. */
  countries: string[] | null;
  /** Live sends a day (UTC) that all accounts on trial share. */
  sendsPerDay: number;
}

export type LedgerEntryView = Json<ReturnType<typeof ledgerEntryView>>;

export interface LedgerView {
  entries: LedgerEntryView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

/** Its change is positive for units that came, negative for those that went. */
export const ledgerEntryView = ({ units, ...entry }: LedgerEntry) => ({
  ...entry,
  change: entry.kind === 'reserved' ? -units : units,
});

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
];

/** An entry in the download, with `LEDGER_COLUMNS`. */
export const ledgerRow = (entry: LedgerEntry) => [
  entry.id,
  entry.at,
  entry.kind,
  entry.bucket,
  ledgerEntryView(entry).change,
  entry.reason,
  entry.sendId,
  entry.balance.freeQuota,
  entry.balance.credits,
];
