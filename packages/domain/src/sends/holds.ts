import { isCountry, NO_COUNTRY } from '../recipients/recipient.js';
import type { Mode } from './send.js';

/** What a hold stops. `target` is empty for `live`, an ISO 3166 code or `NO_COUNTRY`, or an account's id. */
export interface HoldTarget {
  kind: 'live' | 'country' | 'account';
  target: string;
}

interface Holdable {
  accountId: string;
  /** ISO 3166, or null for numbers of no country. */
  country: string | null;
}

/** Whether a hold stops a live send. The SQL function `is_held` says the same in the database. */
export function holdMatches({ kind, target }: HoldTarget, { accountId, country }: Holdable): boolean {
  switch (kind) {
    case 'live':
      return true;
    case 'country':
      return target === (country ?? NO_COUNTRY);
    case 'account':
      return target === accountId;
  }
}

/** Whether one of the holds stops this send. Nothing stops a test send. */
export function isHeld(send: Holdable & { mode: Mode }, holds: readonly HoldTarget[]): boolean {
  return send.mode === 'live' && holds.some((hold) => holdMatches(hold, send));
}

/** Whether a hold of kind `country` can have this target. */
export function isCountryTarget(target: string): boolean {
  return target === NO_COUNTRY || isCountry(target);
}
