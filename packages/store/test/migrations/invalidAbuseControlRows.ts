import { budget, own, trip } from './rowStatements.js';

/** `INVALID_ROWS` of what defends accounts. */
export const INVALID_ABUSE_CONTROL_ROWS: [constraint: string, what: string, statement: string][] = [
  ['settings_guess_budget_check', 'a guess budget of one send', `update settings set guess_budget = 4`],
  ['settings_guess_budget_check', 'a guess budget above NIST’s', `update settings set guess_budget = 101`],
  ['accounts_allowed_countries_check', 'an empty list of countries', own(`allowed_countries = '{}'`)],
  ['accounts_allowed_countries_check', 'a country in words', own(`allowed_countries = '{BR,Brazil}'`)],
  ['accounts_allowed_countries_check', 'a country that is null', own(`allowed_countries = '{BR,null}'`)],
  [
    'accounts_breaker_unverified_percent_check',
    'a breaker that always trips',
    own('breaker_unverified_percent = 0, breaker_min_sends = 50'),
  ],
  [
    'accounts_breaker_unverified_percent_check',
    'a breaker that never trips',
    own('breaker_unverified_percent = 101, breaker_min_sends = 50'),
  ],
  [
    'accounts_breaker_min_sends_check',
    'a breaker without evidence',
    own('breaker_unverified_percent = 90, breaker_min_sends = 0'),
  ],
  [
    'accounts_breaker_min_sends_check',
    'a breaker that wants more sends than are looked at',
    own('breaker_unverified_percent = 90, breaker_min_sends = 1001'),
  ],
  ['breaker_is_whole', 'half a breaker', own('breaker_unverified_percent = 90')],

  ['guess_budgets_mode_check', 'a budget of an unknown mode', budget(`'demo', '+5511987654321', 1`)],
  ['guess_budgets_recipient_check', 'a budget of no number', budget(`'live', '5511987654321', 1`)],
  ['guess_budgets_wrong_in_a_row_check', 'a budget of no guess', budget(`'live', '+5511987654321', 0`)],
  [
    'guess_budgets_guess_points_check',
    'fewer than no points of guesses',
    `insert into guess_budgets (account_id, last_wrong_at, mode, recipient, wrong_in_a_row, guess_points)
       values (:account, now(), 'live', '+5511987654321', 1, -1)`,
  ],
  ['accounts_trial_countries_check', 'a trial in no country', own(`trial_countries = '{}'`)],
  ['accounts_trial_countries_check', 'a trial in a country in words', own(`trial_countries = '{Brazil}'`)],
  [
    'settings_trial_sends_per_day_check',
    'fewer than no trial sends',
    `update settings set trial_sends_per_day = -1`,
  ],
  [
    'settings_sign_ups_per_network_day_check',
    'no sign-up from a network',
    `update settings set sign_ups_per_network_day = 0`,
  ],
  [
    'settings_sign_ups_per_domain_day_check',
    'no sign-up for a domain',
    `update settings set sign_ups_per_domain_day = 0`,
  ],
  [
    'settings_staff_two_factor_check',
    'a second factor that is neither optional nor required',
    `update settings set staff_two_factor = 'on'`,
  ],
  [
    'trial_sends_sends_check',
    'fewer than no sends of a day',
    `insert into trial_sends (day, sends) values ('2026-11-20', -1)`,
  ],
  ['breaker_trips_country_check', 'a trip for no country', trip(`'', now(), 50, 50`)],
  [
    'trip_ends_after_it_begins',
    'a trip that ends before it begins',
    trip(`'BR', now() - interval '1 s', 50, 50`),
  ],
  ['trip_counts_its_sends', 'a trip by more unverified sends than sends', trip(`'BR', now(), 50, 51`)],
];
