/** Why a send may not be created now. */
export type LimitCause =
  | 'account_rate'
  | 'application_rate'
  | 'recipient_rate'
  /** Too many wrong codes in a row. */
  | 'wrong_guesses'
  /** Too many active codes. */
  | 'active_codes'
  | 'breaker'
  /** The account's own ceilings of units. */
  | 'day_ceiling'
  | 'month_ceiling'
  /** The limit of all trial accounts together. */
  | 'trial_ceiling'
  /** The limit of one trial account. */
  | 'trial_share'
  /** Most of a trial account's latest sends were rejected. */
  | 'trial_failures';

/** Why an account may not send to a recipient. */
export type RecipientCause =
  /** The account sends only to listed countries, and the number's country is not listed. */
  | 'country'
  /** The account refuses satellite and premium-rate numbers. */
  | 'range'
  /** A trial account sends only to the countries chosen at sign-up … */
  | 'trial_country'
  /** … and refuses satellite and premium-rate numbers. */
  | 'trial_range';

/** The protections of an account, named as on the console's page about them. */
export type Defence = 'countries' | 'premium_rate' | 'breaker' | 'ceilings' | 'limits' | 'recipients';

/** A refusal's text in the API, and the account's setting behind it; null if the account's members cannot change it. */
interface Refusal {
  detail: string;
  defence: Defence | null;
}

/** The refusals of `rate_limited`; `Retry-After` gives the time to wait. */
export const LIMIT_REFUSALS: Readonly<Record<LimitCause, Refusal>> = {
  account_rate: {
    detail: 'This account has reached its limit of sends per minute.',
    defence: null,
  },
  application_rate: {
    detail: 'This application has reached its limit of sends per minute.',
    defence: 'limits',
  },
  recipient_rate: {
    detail: 'This application has reached its hourly limit of sends to this recipient.',
    defence: 'limits',
  },
  wrong_guesses: {
    detail:
      'This recipient has too many wrong codes in a row. A right code for an active send or an admin of the account resets the count, and each day lowers it.',
    defence: 'recipients',
  },
  active_codes: {
    detail: 'This recipient has too many active codes. Wait until one is verified or expires.',
    defence: null,
  },
  breaker: {
    detail:
      'Almost none of the codes that this account sent to this country were verified, which looks like fraud. Sends to this country are blocked temporarily.',
    defence: 'breaker',
  },
  day_ceiling: {
    detail: 'This account has reached its ceiling of units for today (UTC).',
    defence: 'ceilings',
  },
  month_ceiling: {
    detail: 'This account has reached its ceiling of units for this month (UTC).',
    defence: 'ceilings',
  },
  trial_ceiling: {
    detail:
      'Accounts that never had credits share a daily limit of live sends, and today’s is reached. Credits end this limit.',
    defence: null,
  },
  trial_share: {
    detail:
      'This account has reached the daily limit (UTC) of live sends for accounts that never had credits. Credits end this limit.',
    defence: null,
  },
  trial_failures: {
    detail:
      'WhatsApp rejected most of the latest messages of this account, so it may create only one live send per minute. Check the phone numbers. Credits end this limit.',
    defence: null,
  },
};

/** The refusals of `invalid_recipient` for numbers that the account does not send to, with the message for the field `to`. */
export const RECIPIENT_REFUSALS: Readonly<Record<RecipientCause, Refusal & { to: string }>> = {
  country: {
    detail: 'This account does not send to the country of this number.',
    to: 'Must be a number in a country that this account sends to.',
    defence: 'countries',
  },
  range: {
    detail: 'This account does not send to satellite and premium-rate numbers.',
    to: 'Must be an ordinary number.',
    defence: 'premium_rate',
  },
  trial_country: {
    detail: 'Until this account has had credits, it sends only to the countries that were chosen at sign-up.',
    to: 'Must be a number in a country that was chosen at sign-up.',
    defence: 'countries',
  },
  trial_range: {
    detail: 'Until this account has had credits, it does not send to satellite and premium-rate numbers.',
    to: 'Must be an ordinary number.',
    defence: 'premium_rate',
  },
};

/** The name of a refusal, by which its text is translated, and the account's setting behind it. */
export interface NamedRefusal {
  name: LimitCause | RecipientCause;
  defence: Defence | null;
}

const REFUSALS: ReadonlyMap<string, NamedRefusal> = new Map(
  Object.entries({ ...LIMIT_REFUSALS, ...RECIPIENT_REFUSALS }).map(([name, { detail, defence }]) => [
    detail,
    { name: name as NamedRefusal['name'], defence },
  ]),
);

/** Returns the refusal with this `detail` in the response; null for other refusals. */
export const findRefusal = (detail: string): NamedRefusal | null => REFUSALS.get(detail) ?? null;
