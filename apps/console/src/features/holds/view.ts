import type { HeldSends, Hold } from '@onecode/store';

/** A hold in force. */
export interface HoldView {
  kind: Hold['kind'];
  /** Empty for all live delivery, a country (`ZZ`: numbers without one), or an account's id. */
  target: string;
  accountName: string | null;
  reason: string;
  since: string;
  setBy: string;
  /** Waiting live sends that it matches. */
  waiting: number;
}

/** All holds, and how many live sends wait for a sender or a release. */
export interface HoldsView {
  /** Oldest first. */
  holds: HoldView[];
  waiting: number;
  /** Whether counting stopped at its limit, so that more may wait. */
  isCapped: boolean;
}

/** The countries that can be held or allowed. */
export interface CountriesView {
  countries: readonly string[];
}

export function holdsView({ holds, ...counts }: HeldSends): HoldsView {
  return { ...counts, holds: holds.map(({ since, ...hold }) => ({ ...hold, since: since.toISOString() })) };
}
