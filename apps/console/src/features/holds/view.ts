import type { HeldSends, Hold } from '@onecode/store';

/** A kill switch that is on. */
export interface HoldView {
  kind: Hold['kind'];
  /** Empty for all live delivery, a country (`ZZ`: numbers of none), or an account's id. */
  target: string;
  accountName: string | null;
  reason: string;
  since: string;
  setBy: string;
  /** Live sends that wait and that it matches. */
  waiting: number;
}

/** What is held, and how many live sends wait for a sender or a release. */
export interface SwitchesView {
  /** Oldest first. */
  holds: HoldView[];
  waiting: number;
  /** Whether more wait than were counted. */
  isCapped: boolean;
}

/** The countries that can be held or allowed. */
export interface CountriesView {
  countries: readonly string[];
}

export function switchesView({ holds, ...counts }: HeldSends): SwitchesView {
  return { ...counts, holds: holds.map(({ since, ...hold }) => ({ ...hold, since: since.toISOString() })) };
}
