import type { UnitBucket } from '@onecode/domain';
import type { Balance, LedgerEntry, LedgerKind, LedgerPage } from '@onecode/store';

/** The units that an account has left. */
export interface BalanceView {
  freeQuota: number;
  credits: number;
}

/** Whether an account is on trial. */
export interface TrialView {
  /** Countries it may send to while on trial; null when it is not on trial. */
  countries: string[] | null;
}

export interface LedgerEntryView {
  id: string;
  at: string;
  kind: LedgerKind;
  bucket: UnitBucket;
  /** Units: positive when they came, negative when they went. */
  change: number;
  /** Why they were granted. */
  reason: string | null;
  sendId: string | null;
  /** The balance afterwards. */
  balance: BalanceView;
}

export interface LedgerView {
  entries: LedgerEntryView[];
  /** The cursor of the next page; null at the end. */
  next: string | null;
}

export function balanceView({ freeQuota, credits }: Balance): BalanceView {
  return { freeQuota, credits };
}

export function ledgerView({ entries, next }: LedgerPage): LedgerView {
  return { entries: entries.map(entryView), next };
}

function entryView({ id, at, kind, bucket, units, reason, sendId, balance }: LedgerEntry): LedgerEntryView {
  const change = kind === 'reserved' ? -units : units;
  return { id, at: at.toISOString(), kind, bucket, change, reason, sendId, balance };
}
