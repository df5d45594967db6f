import { isCountry, NO_COUNTRY } from '../recipients/recipient.js';
import type { Mode } from './send.js';

/** The sends that a hold matches. `target` is empty for `live`, an ISO 3166 code or `NO_COUNTRY`, or an account's id. */
export interface HoldTarget {
  kind: 'live' | 'country' | 'account';
  target: string;
}

interface Holdable {
  accountId: string;
  /** ISO 3166, or null for numbers without a country. */
  country: string | null;
}

/** Returns whether a hold matches a live send, like the SQL function `is_held`. */
export function holdMatches({ kind, target }: HoldTarget, { accountId, country }: Holdable): boolean {
  return target === { live: '', country: country ?? NO_COUNTRY, account: accountId }[kind];
}

/** Returns whether one of the holds matches this send. Test sends are never held. */
export function isHeld(send: Holdable & { mode: Mode }, holds: readonly HoldTarget[]): boolean {
  return send.mode === 'live' && holds.some((hold) => holdMatches(hold, send));
}

/** Returns whether a hold of kind `country` can have this target. */
export function isCountryTarget(target: string): boolean {
  return target === NO_COUNTRY || isCountry(target);
}
