import { COUNTRIES } from '@onecode/domain';
import type { AbuseControls, Account, BreakerTrip } from '@onecode/store/accounts';
import type { Json } from '../../http/json.js';

/** The protection of an account from abuse and unexpected bills, for its members and for staff. */
export type ProtectionView = Json<ReturnType<typeof protectionView>>;

export const protectionView = (
  { trialCountries, ratePerMinute }: Account,
  controls: AbuseControls,
  trips: BreakerTrip[],
) => ({
  ...controls,
  trips,
  /** The operator's limits. */
  trialCountries,
  ratePerMinute,
  /** The countries that may be chosen. */
  countryChoices: COUNTRIES,
});
