/** When the fraud breaker stops an account's sends to a country, as set for the account. */
export interface BreakerRule {
  /** The percentage of unverified codes that trips the breaker, 1 to 100. */
  unverifiedPercent: number;
  /** Fewer sends prove nothing. */
  minSends: number;
}

/** An account's latest sends to one country, of those that people had the time to verify. */
export interface BreakerEvidence {
  sends: number;
  unverified: number;
}

/**
 * Whether so few codes are verified that the sends look like traffic pumping: made to earn on the messages, not to sign anybody in.
 * Judged by country, because fraud goes where a message costs most.
 */
export function breakerTrips(rule: BreakerRule, { sends, unverified }: BreakerEvidence): boolean {
  return sends >= rule.minSends && unverified * 100 >= rule.unverifiedPercent * sends;
}
