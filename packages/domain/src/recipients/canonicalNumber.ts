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
