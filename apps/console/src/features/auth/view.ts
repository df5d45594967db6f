/** The country that the service is run in: of whoever names none. */
export const HOME_COUNTRY = 'BR';

/** So many countries may be named at sign-up. */
export const TRIAL_COUNTRIES_MAX = 5;

/** What whoever signs up now is offered. */
export interface SignUpOfferView {
  freeSends: number;
  /** ISO 3166 codes of countries that can be named. */
  countries: readonly string[];
}
