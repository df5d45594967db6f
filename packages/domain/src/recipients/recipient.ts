import {
  getCountries,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type NumberType,
  type PhoneNumber,
} from 'libphonenumber-js/max';
import { parsePhoneNumberFromString as parseByPlan } from 'libphonenumber-js/min';

import { canonicalNumber } from './canonicalNumber.js';
import { trimOuter } from '../security/trimOuter.js';

export interface PhoneRecipient {
  kind: 'phone';
  /** The requested number, normalised. It is shown and sent. */
  e164: string;
  /** See `canonicalNumber`. */
  canonical: string;
  /** An ISO 3166 code, or null for numbers of no country. A range that is not known counts as its calling code's main country. */
  country: string | null;
  /** Whether the number's owner may earn by a message or call, or it costs far more than to other numbers. */
  isPremiumRate: boolean;
}

/** What the `to` of a request names. */
export type Recipient = PhoneRecipient | { kind: 'email' } | InvalidRecipient;

export interface InvalidRecipient {
  kind: 'invalid';
  /** The year in which numbers like this one got ten digits. */
  tenDigitsSince?: number;
}

const PHONE = /^\+[0-9 ()-]+$/;
const EMAIL =
  /^[^\s@.,:;<>()[\]"\\]+(?:\.[^\s@.,:;<>()[\]"\\]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u;
/** The longest address that SMTP can carry (RFC 5321, 4.5.3.1.3). */
const EMAIL_LENGTH_MAX = 254;
/** More than any number needs with its spaces and brackets. */
const PHONE_LENGTH_MAX = 40;
/** E.164 allows 15 digits; libphonenumber also reads longer numbers of some national plans, such as Germany's. */
const E164 = /^\+[1-9][0-9]{4,14}$/;
/**
 * The calling codes without a country under which every number is premium-rate: shared cost (808), satellites (870, 881), personal numbers
 * (878), international networks (882, 883), relief in disasters (888) and premium rate (979). Not freephone (800).
 */
const PREMIUM_RATE_CALLING_CODES = new Set(['808', '870', '878', '881', '882', '883', '888', '979']);
/** The premium-rate number types within countries, as libphonenumber names them. */
const PREMIUM_RATE_TYPES = new Set<NumberType>([
  'PREMIUM_RATE',
  'SHARED_COST',
  'UAN',
  'PERSONAL_NUMBER',
  'PAGER',
  'VOICEMAIL',
]);
/** The calling codes whose numbers of eight digits became ones of ten, and when: Ivory Coast (ARTCI) and Benin (ARCEP). */
const TEN_DIGITS_SINCE: ReadonlyMap<string, number> = new Map([
  ['225', 2021],
  ['229', 2024],
]);
/** No recipient is longer, outer spaces included. */
const TEXT_LENGTH_MAX = 1000;

/**
 * Reads a recipient: an e-mail address, or a phone number with `+` and country code that may contain spaces, hyphens and round
 * brackets. Invalid are extensions, `tel:` forms, letters, text around the number, lengths that are impossible in the country, and a zero
 * behind the country code that is neither its national prefix nor part of its numbers: without the zero it may be somebody else's number.
 * Whether a range within a country is in use is not checked: ranges change faster than any table of them.
 */
export function parseRecipient(to: string): Recipient {
  if (to.length > TEXT_LENGTH_MAX) return { kind: 'invalid' };
  const text = trimOuter(to, ' ');
  if (text.length <= EMAIL_LENGTH_MAX && EMAIL.test(text)) return { kind: 'email' };
  if (text.length > PHONE_LENGTH_MAX || !PHONE.test(text)) return { kind: 'invalid' };
  const compact = text.replace(/[ ()-]/g, '');
  const asked = parsePhoneNumberFromString(compact, { extract: false });
  if (asked === undefined || asked.ext !== undefined || !E164.test(asked.number)) return { kind: 'invalid' };
  // The canonical form is checked, because libphonenumber no longer knows Mexico's old one.
  const canonical = canonicalNumber(asked.number);
  const number =
    canonical === asked.number ? asked : parsePhoneNumberFromString(canonical, { extract: false });
  if (number === undefined || !number.isPossible()) return impossible(asked);
  // The smaller tables know of each plan how its numbers begin, and no ranges.
  if (asked.nationalNumber.startsWith('0') && parseByPlan(compact, { extract: false })?.isValid() !== true)
    return { kind: 'invalid' };
  return {
    kind: 'phone',
    e164: asked.number,
    canonical,
    // The first of those that share a calling code is the main one.
    country: number.country ?? number.getPossibleCountries()[0] ?? null,
    isPremiumRate: isPremiumRate(number),
  };
}

function impossible({ countryCallingCode, nationalNumber }: PhoneNumber): InvalidRecipient {
  const tenDigitsSince = TEN_DIGITS_SINCE.get(countryCallingCode);
  return nationalNumber.length === 8 && tenDigitsSince !== undefined
    ? { kind: 'invalid', tenDigitsSince }
    : { kind: 'invalid' };
}

function isPremiumRate(number: PhoneNumber): boolean {
  return (
    PREMIUM_RATE_CALLING_CODES.has(number.countryCallingCode) || PREMIUM_RATE_TYPES.has(number.getType())
  );
}

/** Stands for numbers of no country where a country's code is stored. ISO 3166 leaves the code to its users. */
export const NO_COUNTRY = 'ZZ';

/** Whether this is an ISO 3166 code (two capital letters) of a country that has phone numbers. */
export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && isSupportedCountry(code);
}

/** The ISO 3166 codes of all countries that have phone numbers. */
export const COUNTRIES: readonly string[] = getCountries();

/** The ISO 3166 codes of the countries that share a calling code such as `+44`: GB, GG, IM and JE. None for what is no such code. */
export const countriesOf = (callingCode: string): string[] =>
  getCountries().filter((country) => `+${getCountryCallingCode(country)}` === callingCode);

/** Where a number stands in what people copy: a scheme, or the address of a chat. */
const LINK =
  /^(?:whatsapp:(?!\/)|tel:|(?:https?:\/\/)?(?:www\.)?wa\.me\/|(?:whatsapp:\/\/|(?:https?:\/\/)?(?:api|web)\.whatsapp\.com\/)send\/?\?(?:[^#]*&)?phone=) *(?:\+|%2B)?(?=\d)([^?&#/]*).*$/is;

/** The number in what people copy from contacts, chats and web pages: without invisible characters, and out of a link to a chat. */
export function pastedNumber(text: string): string {
  // NFKC would make a digit of a footnote's mark, such as ²: a number of another person.
  if (/\p{No}/u.test(text)) return text;
  return text
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/\s/gu, ' ')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .trim()
    .replace(LINK, '+$1');
}

/** A number without its masked digits. */
const MASKED = '•••••';
/** A masked number shows no more digits than this, and no more than half of those after the calling code. */
const DIGITS_SHOWN_MAX = 4;

/**
 * Masks a number down to its calling code and last digits, as in `+55 ••••• 4321`. The number of dots is always the same, so that it
 * does not tell the length.
 *
 * @param e164 a number as `parseRecipient` gives it, or masked already
 */
export function maskRecipient(e164: string): string {
  if (isMasked(e164)) return e164;
  const number = parsePhoneNumberFromString(e164, { extract: false });
  const national = number?.nationalNumber ?? e164.slice(1);
  const shown = national.slice(-Math.min(DIGITS_SHOWN_MAX, Math.floor(national.length / 2)));
  return number === undefined ? `+${MASKED} ${shown}` : `+${number.countryCallingCode} ${MASKED} ${shown}`;
}

/** Whether it is what `maskRecipient` leaves of a number. */
export function isMasked(recipient: string): boolean {
  return recipient.includes(MASKED);
}
