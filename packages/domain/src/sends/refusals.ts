/** Why a send may not be created now, with the `detail` of `rate_limited`. `Retry-After` gives the time to wait. */
export const LIMIT_REFUSALS = {
  account_rate: 'This account has reached its limit of sends per minute.',
  application_rate: 'This application has reached its limit of sends per minute.',
  recipient_rate: 'This application has reached its hourly limit of sends to this recipient.',
  wrong_guesses:
    'This recipient has too many wrong codes in a row. A right code for an active send or an admin of the account resets the count, and each day lowers it.',
  active_codes: 'This recipient has too many active codes. Wait until one is verified or expires.',
  breaker:
    'Almost none of the codes that this account sent to this country were verified, which looks like fraud. Sends to this country are blocked temporarily.',
  day_ceiling: 'This account has reached its ceiling of units for today (UTC).',
  month_ceiling: 'This account has reached its ceiling of units for this month (UTC).',
  trial_ceiling:
    'Accounts that never had credits share a daily limit of live sends, and today’s is reached. Credits end this limit.',
  trial_share:
    'This account has reached the daily limit (UTC) of live sends for accounts that never had credits. Credits end this limit.',
  trial_failures:
    'WhatsApp rejected most of the latest messages of this account, so it may create only one live send per minute. Check the phone numbers. Credits end this limit.',
} as const;
export type LimitCause = keyof typeof LIMIT_REFUSALS;

/** Why an account may not send to a number, with the `detail` of `invalid_recipient`. */
export const RECIPIENT_REFUSALS = {
  country: 'This account does not send to the country of this number.',
  range:
    'This account does not send to satellite and premium-rate numbers. Accounts that never had credits cannot allow them.',
  trial_country:
    'Until this account has had credits, it sends only to the countries that were chosen at sign-up.',
} as const;
export type RecipientCause = keyof typeof RECIPIENT_REFUSALS;
