import {
  getCountries,
  getCountryCallingCode,
  parsePhoneNumberFromString,
  type NumberType,
  type PhoneNumber,
} from 'libphonenumber-js/max';
import { parsePhoneNumberFromString as parseByPlan } from 'libphonenumber-js/min';
import { trimOuter } from '../security/trimOuter.js';

export interface PhoneRecipient {
  kind: 'phone';
  /** The requested number, normalized. This form is shown and sent. */
  e164: string;
  /** See `canonicalNumber`. */
  canonical: string;
  /** An ISO 3166 code, or `NO_COUNTRY`. An unknown range counts as its calling code's main country. */
  country: string;
  /** Whether the number's owner may earn money from messages or calls, or whether messages to it cost far more than to other numbers. */
  isPremiumRate: boolean;
}

/** Why a text is not a recipient. `form`: it is not `+` and digits, or it has a zero that does not belong after the country code. */
export type RecipientFault = 'form' | 'country_code' | 'length';

/** The parsed `to` of a request. */
export type Recipient = PhoneRecipient | { kind: 'email' } | { kind: 'invalid'; fault: RecipientFault };

const PHONE = /^\+[0-9 ()-]+$/;
const EMAIL =
  /^[^\s@.,:;<>()[\]"\\]+(?:\.[^\s@.,:;<>()[\]"\\]+)*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}\p{N}-]{2,}$/u;
/** The longest e-mail address that SMTP can carry (RFC 5321, 4.5.3.1.3), and longer than any number with its spaces and brackets. */
const LENGTH_MAX = 254;
/** E.164 allows 15 digits; libphonenumber also reads longer numbers of some national plans, such as Germany's. */
const E164 = /^\+[1-9][0-9]{4,14}$/;
/**
 * The calling codes without a country under which every number is premium-rate: shared cost (808), satellites (870, 881), personal numbers
 * (878), international networks (882, 883), disaster relief (888) and premium rate (979). Not freephone (800).
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

/**
 * Parses a recipient: an e-mail address, or a phone number with `+` and country code that may contain spaces, hyphens and round brackets.
 * Rejects extensions, `tel:` forms, letters, text around the number, lengths that are impossible in the country, and a zero after the
 * country code that is neither its national prefix nor part of its numbers: the number without the zero may belong to another person. Does
 * not check whether a range within a country is in use, because ranges change faster than any table of them.
 */
export function parseRecipient(to: string): Recipient {
  if (to.length > LENGTH_MAX) return { kind: 'invalid', fault: 'form' };
  const text = trimOuter(to, ' ');
  if (EMAIL.test(text)) return { kind: 'email' };
  if (!PHONE.test(text)) return { kind: 'invalid', fault: 'form' };
  const compact = text.replace(/[ ()-]/g, '');
  const asked = parsePhoneNumberFromString(compact, { extract: false });
  if (asked === undefined) return { kind: 'invalid', fault: 'country_code' };
  if (!E164.test(asked.number)) return { kind: 'invalid', fault: 'length' };
  // Checks the canonical form, because libphonenumber no longer knows Mexico's old form.
  const canonical = canonicalNumber(asked.number);
  const number =
    canonical === asked.number ? asked : parsePhoneNumberFromString(canonical, { extract: false });
  if (number === undefined || !number.isPossible()) return { kind: 'invalid', fault: 'length' };
  // The smaller tables contain the first digits of each numbering plan, but no ranges.
  if (asked.nationalNumber.startsWith('0') && parseByPlan(compact, { extract: false })?.isValid() !== true)
    return { kind: 'invalid', fault: 'form' };
  return {
    kind: 'phone',
    e164: asked.number,
    canonical,
    // The first country of a shared calling code is the main one.
    country: number.country ?? number.getPossibleCountries()[0] ?? NO_COUNTRY,
    isPremiumRate: isPremiumRate(number),
  };
}

function isPremiumRate(number: PhoneNumber): boolean {
  return (
    PREMIUM_RATE_CALLING_CODES.has(number.countryCallingCode) || PREMIUM_RATE_TYPES.has(number.getType())
  );
}

/**
 * The countries in which a mobile number has two forms on WhatsApp. Each has a pattern that matches both forms, and the canonical form as
 * its replacement text.
 *
 * - **Brazil**: every mobile number got a ninth digit, a 9 before its eight digits (ANATEL, Resolução 553/2010, carried out from 2012 to
 * 2016). Mobile numbers of eight digits started with 6 to 9. Landlines start with 2 to 5 and kept their eight digits. A mobile number of
 * nine digits with a second digit below 6 never had a form of eight. (Trunked radio, 7, kept eight digits until its network ended in 2018;
 * its numbers share a form with the mobile ones.)
 * - **Mexico**: mobile numbers were called from abroad with a 1 after the country code, until the numbering plan of 3 August 2019 abolished
 * it (IFT, Plan Técnico Fundamental de Numeración, Diario Oficial 11 May 2018). WhatsApp keeps older accounts under the old form. National
 * numbers have ten digits and start with 2 to 9.
 * - **Argentina**: a mobile number is called from abroad with a 9 before its area code, and within the country with a 15 after it (ENACOM,
 * Plan Fundamental de Numeración Nacional; libphonenumber reads `+54 11 15 …` as `+54 9 11 …`). WhatsApp requires the 9 and no 15 ("About
 * international phone number format", faq.whatsapp.com). Area codes are 11 and those that start with 2 or 3; area code and number have ten
 * digits together. Service numbers (600, 800, 810, …) have one form.
 *
 * According to the Cloud API reference, Meta may change the extra prefix of a number in Brazil or Mexico by itself, which is not an error
 * ("Phone number formats", developers.facebook.com/docs/whatsapp/cloud-api/reference/messages).
 */
const FORMS: readonly [pattern: RegExp, canonical: string][] = [
  [/^\+55([1-9][1-9])9?([6-9][0-9]{7})$/, '+55$19$2'],
  [/^\+521?([2-9][0-9]{9})$/, '+52$1'],
  [/^\+549?((?:11|[23][0-9])[0-9]{8})$/, '+549$1'],
];

/**
 * Returns the canonical form of a number, which is the same for all numbers that reach the same WhatsApp user. Limits, windows, budgets and
 * searches use it; it is neither shown nor sent. A number with a single form is its own canonical form.
 *
 * @param e164 a number of `+` and digits
 */
export function canonicalNumber(e164: string): string {
  return FORMS.reduce((number, [pattern, canonical]) => number.replace(pattern, canonical), e164);
}

/** The country of numbers without one. ISO 3166 leaves the code to its users. */
export const NO_COUNTRY = 'ZZ';

/** The ISO 3166 codes of all countries that have phone numbers. */
export const COUNTRIES: readonly string[] = getCountries();

/** Returns whether this is an ISO 3166 code, in capital letters, of a country that has phone numbers. */
export const isCountry = (code: string): boolean => COUNTRIES.includes(code);

/** Returns whether this is the country of a number: an ISO 3166 code, or `NO_COUNTRY`. */
export const isCountryTarget = (code: string): boolean => code === NO_COUNTRY || isCountry(code);

/** Returns the ISO 3166 codes of the countries that share a calling code: GB, GG, IM and JE for `+44`. Returns none for an unknown code. */
export const countriesOf = (callingCode: string): string[] =>
  getCountries().filter((country) => `+${getCountryCallingCode(country)}` === callingCode);

/** Replaces the masked digits of a number. */
export const MASKED = '•••••';
/** A masked number shows at most this many digits, and at most half of those after the calling code. */
const DIGITS_SHOWN_MAX = 4;

/**
 * Masks a number except for its calling code and last digits, as in `+55 ••••• 4321`. The number of dots is constant, so that it does not
 * reveal the length.
 *
 * @param e164 a number from `parseRecipient`, or a masked one
 */
export function maskRecipient(e164: string): string {
  if (isMasked(e164)) return e164;
  const number = parsePhoneNumberFromString(e164, { extract: false });
  const national = number?.nationalNumber ?? e164.slice(1);
  const shown = national.slice(-Math.min(DIGITS_SHOWN_MAX, Math.floor(national.length / 2)));
  return number === undefined ? `+${MASKED} ${shown}` : `+${number.countryCallingCode} ${MASKED} ${shown}`;
}

/** Masks a number wherever a text contains it, in any form and with any separators or prefix. @param e164 as for `maskRecipient` */
export function maskNumberIn(text: string, e164: string): string {
  // All forms of a number end with the same eight digits, or with the whole national number if it is shorter.
  const national = parsePhoneNumberFromString(e164, { extract: false })?.nationalNumber ?? e164.slice(1);
  const end = national.slice(-8);
  return text.replace(/\+?\d(?:[\s()./-]*\d)*/g, (digits) =>
    digits.replace(/\D/g, '').includes(end) ? maskRecipient(e164) : digits,
  );
}

/** Returns whether it is a result of `maskRecipient`. */
export function isMasked(recipient: string): boolean {
  return recipient.includes(MASKED);
}

/** What an application does if a number's owner may have changed: nothing, report it and send anyway, or refuse. */
export const IDENTITY_CHECKS = ['off', 'observe', 'enforce'] as const;
export type IdentityCheck = (typeof IDENTITY_CHECKS)[number];
