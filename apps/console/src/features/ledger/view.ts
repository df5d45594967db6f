import type { UnitBucket } from '@onecode/domain';
import type { Balance, LedgerEntry, LedgerKind, LedgerPage } from '@onecode/store';

/** What an account has left. */
export interface BalanceView {
  freeQuota: number;
  credits: number;
}

/** Whether an account is on trial. */
export interface TrialView {
  /** Where it may send while it is; null when it is not. */
  countries: string[] | null;
}

export interface LedgerEntryView {
  id: string;
  at: string;
  kind: LedgerKind;
  bucket: UnitBucket;
  /** Units that came (above 0) or went (below). */
  change: number;
  /** Why they were granted. */
  reason: string | null;
  sendId: string | null;
  /** What the account had afterwards. */
  balance: BalanceView;
}

export interface LedgerView {
  entries: LedgerEntryView[];
  /** For the page after this one; null at the end. */
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
