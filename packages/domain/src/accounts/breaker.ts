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
}

/**
 * Returns whether so few codes are verified that the sends look like traffic pumping: fraud that earns on the messages themselves. Judged
 * per country, because fraud targets the countries where a message costs most.
 */
export const breakerTrips = (rule: BreakerRule, { sends, unverified }: BreakerEvidence): boolean =>
  sends >= rule.minSends && unverified * 100 >= rule.unverifiedPercent * sends;
