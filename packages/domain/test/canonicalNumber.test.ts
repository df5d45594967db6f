import { canonicalNumber, parseRecipient } from '@onecode/domain';
import fc from 'fast-check';
import { getCountries, getCountryCallingCode } from 'libphonenumber-js/max';

const PLANS_WITH_TWO_FORMS = new Set(['55', '52', '54']);

const digits = (length: number) => fc.stringMatching(new RegExp(`^[0-9]{${length}}$`));
const areaCodeOfBrazil = fc.stringMatching(/^[1-9][1-9]$/);
const numberOfMexico = fc.stringMatching(/^[2-9][0-9]{9}$/);
const numberOfArgentina = fc.oneof(fc.stringMatching(/^11[0-9]{8}$/), fc.stringMatching(/^[23][0-9]{9}$/));
const anyNumber = fc
  .tuple(
    fc.constantFrom(...getCountries().map((country) => getCountryCallingCode(country))),
    fc.integer({ min: 4, max: 12 }),
  )
  .chain(([code, length]) => digits(length).map((national) => `+${code}${national}`.slice(0, 16)));
const numberOfTwoForms = fc.oneof(
  fc
    .tuple(areaCodeOfBrazil, fc.stringMatching(/^9?[2-9][0-9]{7}$/))
    .map(([area, subscriber]) => `+55${area}${subscriber}`),
  fc.tuple(fc.constantFrom('', '1'), numberOfMexico).map((parts) => `+52${parts.join('')}`),
  fc.tuple(fc.constantFrom('', '9'), numberOfArgentina).map((parts) => `+54${parts.join('')}`),
);

/** Every way to write the number of one subscriber, as the numbering plans have it: the judge of the rules. */
function formsOf(e164: string): string[] {
  const brazil = /^\+55([1-9][1-9])(9?)([6-9]\d{7})$/.exec(e164);
  if (brazil !== null) return [`+55${brazil[1]}9${brazil[3]}`, `+55${brazil[1]}${brazil[3]}`];
  const mexico = /^\+521?([2-9]\d{9})$/.exec(e164);
  if (mexico !== null) return [`+52${mexico[1]}`, `+521${mexico[1]}`];
  const argentina = /^\+549?((?:11|2\d|3\d)\d{8})$/.exec(e164);
  if (argentina !== null) return [`+54${argentina[1]}`, `+549${argentina[1]}`];
  return [e164];
}

describe('the canonical form of a number', () => {
  it.each([
    ['a mobile number of Brazil', '+5511987654321', '+5511987654321'],
    ['the same without its ninth digit', '+551187654321', '+5511987654321'],
    ['one of eight digits that begins with 6', '+557168765432', '+5571968765432'],
    ['one of eight digits that begins with 9', '+551198765432', '+5511998765432'],
    ['a landline of Brazil', '+551137654321', '+551137654321'],
    ['a mobile number of Brazil that ends like that landline', '+5511937654321', '+5511937654321'],
    ['a free number of Brazil', '+558007654321', '+558007654321'],
    ['a number of Mexico', '+525512345678', '+525512345678'],
    ['the same as it was called until 2019', '+5215512345678', '+525512345678'],
    ['too short a number of Mexico that begins with 1', '+521551234567', '+521551234567'],
    ['too long a number of Mexico that begins with 1', '+52155123456789', '+52155123456789'],
    ['too long a number of Argentina', '+5411234567890', '+5411234567890'],
    ['a mobile number of Buenos Aires', '+5491123456789', '+5491123456789'],
    ['the same without the 9', '+541123456789', '+5491123456789'],
    ['an area code of three digits', '+543514567890', '+5493514567890'],
    ['an area code of four digits', '+542966429999', '+5492966429999'],
    ['a number of Argentina with no area code', '+541523456789', '+541523456789'],
    ['a free number of Argentina', '+548001234567', '+548001234567'],
    ['a number of Portugal that looks like one of Brazil', '+351987654321', '+351987654321'],
  ])('of %s, %s, is %s', (_, e164, canonical) => {
    expect(canonicalNumber(e164)).toBe(canonical);
  });

  it('is its own canonical form', () => {
    fc.assert(
      fc.property(fc.oneof(anyNumber, numberOfTwoForms), (e164) => {
        const canonical = canonicalNumber(e164);
        expect(canonicalNumber(canonical)).toBe(canonical);
      }),
    );
  });

  it('is one for all forms of one person’s number', () => {
    fc.assert(
      fc.property(numberOfTwoForms, (e164) => {
        expect(new Set(formsOf(e164).map(canonicalNumber)).size).toBe(1);
      }),
    );
  });

  it('never is one for two people, whichever digit their numbers differ in and whichever one of them lacks', () => {
    fc.assert(
      fc.property(
        numberOfTwoForms,
        fc.nat(),
        fc.oneof(fc.constantFrom(1, 9), fc.integer({ min: 0, max: 9 })),
        fc.constantFrom(0, 1),
        (e164, place, digit, replaced) => {
          const at = 3 + (place % (e164.length - 2));
          const other = `${e164.slice(0, at)}${digit}${e164.slice(at + replaced)}`;
          if (formsOf(e164).includes(other)) return;
          expect(canonicalNumber(other)).not.toBe(canonicalNumber(e164));
        },
      ),
      { numRuns: 5000 },
    );
  });

  it('is the number itself in every other country', () => {
    fc.assert(
      fc.property(
        anyNumber.filter((e164) => !PLANS_WITH_TWO_FORMS.has(e164.slice(1, 3))),
        (e164) => {
          expect(canonicalNumber(e164)).toBe(e164);
        },
      ),
    );
  });

  it('is a number that is read, with itself as its canonical form', () => {
    fc.assert(
      fc.property(numberOfTwoForms, (e164) => {
        const asked = parseRecipient(e164);
        if (asked.kind !== 'phone') throw new Error(`${e164} is refused`);
        expect(asked.e164).toBe(e164);
        expect(parseRecipient(asked.canonical)).toEqual({ ...asked, e164: asked.canonical });
      }),
    );
  });
});
