import { COUNTRIES } from '@onecode/domain';
import type { AbuseControls, BreakerTrip } from '@onecode/store/accounts';
import type { Json } from '../../http/json.js';

/** The protection of an account from abuse and unexpected bills, for its members and for staff. */
export type ProtectionView = Json<ReturnType<typeof protectionView>>;

export const protectionView = (controls: AbuseControls, trips: BreakerTrip[]) => ({
  allowedCountries: controls.allowedCountries,
  allowsPremiumRate: controls.allowsPremiumRate,
  unitsPerDay: controls.unitsPerDay,
  unitsPerMonth: controls.unitsPerMonth,
  unitsToday: controls.unitsToday,
  unitsThisMonth: controls.unitsThisMonth,
  breaker: controls.breaker,
  blockedCountries: controls.blockedCountries,
  trips,
  /** The operator's limits. */
  trialCountries: controls.trialCountries,
  ratePerMinute: controls.ratePerMinute,
  /** The countries that may be chosen. */
  countryChoices: COUNTRIES,
});
