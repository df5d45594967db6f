import type { HeldSends } from '@onecode/store/reports';
import type { Json } from '../../http/json.js';

/** All holds, and the number of live sends that wait for a sender or a release. */
export type HoldsView = Json<HeldSends>;

/** A hold in force. Its target is empty for all live delivery, a country (`ZZ`: numbers without one), or an account's id. */
export type HoldView = HoldsView['holds'][number];

/** The countries that can be held or allowed. */
export interface CountriesView {
  countries: readonly string[];
}
