/** When an account is kept from a country, as its operator set it. */
export interface BreakerRule {
  /** Percent of unverified codes that trip it, 1 to 100. */
  unverifiedPercent: number;
  /** Fewer sends than this prove nothing. */
  minSends: number;
}

/** What is known of an account's latest sends to one country that had the time to be verified. */
export interface BreakerEvidence {
  sends: number;
  unverified: number;
}

/**
 * Whether so few codes are verified that the sends look like traffic pumping: made to earn on messages, and not to sign anybody in. Judged by
 * country, since pumps go where a message costs most.
 */
export function breakerTrips(rule: BreakerRule, { sends, unverified }: BreakerEvidence): boolean {
  return sends >= rule.minSends && unverified * 100 >= rule.unverifiedPercent * sends;
}
