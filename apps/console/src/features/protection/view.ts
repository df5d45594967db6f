import { COUNTRIES } from '@onecode/domain';
import type { Account } from '@onecode/store/accounts';
import type { BreakerTrip } from '@onecode/store/reports';
import type { Json } from '../../http/json.js';

/** The protection of an account from abuse and unexpected bills, for its members and for staff. */
export type ProtectionView = Json<ReturnType<typeof protectionView>>;

export const protectionView = (account: Account, trips: BreakerTrip[]) => ({
  allowedCountries: account.allowedCountries,
  allowsPremiumRate: account.allowsPremiumRate,
  unitsPerDay: account.unitsPerDay,
  unitsPerMonth: account.unitsPerMonth,
  unitsToday: account.unitsToday,
  unitsThisMonth: account.unitsThisMonth,
  breaker: account.breaker,
  blockedCountries: account.blockedCountries,
  trips,
  /** The operator's limits. */
  trialCountries: account.trialCountries,
  ratePerMinute: account.ratePerMinute,
  /** The countries that may be chosen. */
  countryChoices: COUNTRIES,
});
