/** An account's rule for when the fraud breaker blocks its sends to a country. */
export interface BreakerRule {
  /** The percentage of unverified codes that trips the breaker, 1 to 100. */
  unverifiedPercent: number;
  /** The fewest sends on which the breaker can trip. */
  minSends: number;
}

/** An account's latest sends to one country that people had time to verify. */
export interface BreakerEvidence {
  sends: number;
  /** Sends without a verified code, and denied sends, verified or not. */
  unverified: number;
  /** People who reported that they did not request a code, each counted once. */
  denying: number;
}

/** Few people report a code that they did not request, so one report counts as this many unverified sends. */
const DENIAL_WEIGHT = 10;

/**
 * Returns whether so few codes are verified that the sends look like traffic pumping: fraud that earns on the messages themselves. Each
 * person who denies a request adds `DENIAL_WEIGHT` - 1 assumed unverified sends. These do not count toward `minSends`; otherwise five
 * people could block a country. Judged per country, because fraud targets the countries where a message costs most.
 */
export function breakerTrips(rule: BreakerRule, { sends, unverified, denying }: BreakerEvidence): boolean {
  const unseen = denying * (DENIAL_WEIGHT - 1);
  return sends >= rule.minSends && (unverified + unseen) * 100 >= rule.unverifiedPercent * (sends + unseen);
}
