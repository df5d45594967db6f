import { COUNTRIES } from '@onecode/domain';
import type { AbuseControls, Account, BreakerTrip } from '@onecode/store/accounts';
import type { Json } from '../../http/json.js';

/** What protects an account from abuse and from bills that it did not expect, for its people and for staff. */
export type ProtectionView = Json<ReturnType<typeof protectionView>>;

export const protectionView = (
  { trialCountries, ratePerMinute }: Account,
  controls: AbuseControls,
  trips: BreakerTrip[],
) => ({
  ...controls,
  trips,
  /** What the operator limits. */
  trialCountries,
  ratePerMinute,
  /** The countries that may be chosen. */
  countryChoices: COUNTRIES,
});
