/** When the fraud breaker blocks an account's sends to a country, as set for the account. */
export interface BreakerRule {
  /** The percentage of unverified codes that trips the breaker, 1 to 100. */
  unverifiedPercent: number;
  /** Fewer sends prove nothing, whatever people say of them. */
  minSends: number;
}

/** An account's latest sends to one country, of those that people had the time to verify. */
export interface BreakerEvidence {
  sends: number;
  /** Those whose code was not verified, and those that their recipients deny, whoever verified them. */
  unverified: number;
  /** People who say that they did not request a code; each counts once. */
  denying: number;
}

/** Few of the people who get a code that they did not request say so: one who does stands for this many unverified sends. */
const DENIAL_WEIGHT = 10;

/**
 * Whether so few codes are verified that the sends look like traffic pumping: made to earn on the messages, not to sign anybody in.
 * Each person who denies a request adds `DENIAL_WEIGHT` - 1 unverified sends that nobody made, which never stand for traffic: otherwise
 * five people could block a country by themselves.
 * Judged by country, because fraud goes where a message costs most.
 */
export function breakerTrips(rule: BreakerRule, { sends, unverified, denying }: BreakerEvidence): boolean {
  const unseen = denying * (DENIAL_WEIGHT - 1);
  return sends >= rule.minSends && (unverified + unseen) * 100 >= rule.unverifiedPercent * (sends + unseen);
}
