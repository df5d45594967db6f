import {
  canonicalNumber,
  countriesOf,
  isCountry,
  isCountryTarget,
  maskNumberIn,
  maskRecipient,
  NO_COUNTRY,
  parseRecipient,
  type PhoneRecipient,
} from '@onecode/domain';
import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json' with { type: 'json' };
import { getCountries, getCountryCallingCode, getExampleNumber } from 'libphonenumber-js/max';

const phone = (e164: string, country: string, canonical = e164) => ({
  kind: 'phone',
  e164,
  canonical,
  country,
  isPremiumRate: false,
});
function phoneOf(to: string): PhoneRecipient {
  const recipient = parseRecipient(to);
  if (recipient.kind !== 'phone') throw new Error(`${to} is not a phone number`);
  return recipient;
}

describe('parseRecipient with a phone number', () => {
  it.each([
    ['+5511987654321', '+5511987654321', 'BR'],
    ['+55 11 98765-4321', '+5511987654321', 'BR'],
    ['+55 (11) 98765-4321', '+5511987654321', 'BR'],
    ['+ 55 11 98765 4321', '+5511987654321', 'BR'],
    ['  +5511987654321  ', '+5511987654321', 'BR'],
    ['+56 9 1234 5678', '+56912345678', 'CL'],
    ['+36 06 20 123 4567', '+36201234567', 'HU'],
    ['+7 8 912 345-67-89', '+79123456789', 'RU'],
    ['+225 07 12 34 56 78', '+2250712345678', 'CI'],
    ['+44 20 7946 0958', '+442079460958', 'GB'],
    ['+44 (0)20 7946 0958', '+442079460958', 'GB'],
    ['+39 02 1234 5678', '+390212345678', 'IT'],
    ['+290 22158', '+29022158', 'SH'],
    ['+5511987654321'.padStart(254), '+5511987654321', 'BR'],
    ['+55 11 98765-4321'.padEnd(254, '-'), '+5511987654321', 'BR'],
  ])('parses %j as %s', (to, e164, country) => {
    expect(parseRecipient(to)).toEqual(phone(e164, country));
  });

  it.each([
    ['+1 861 234 1234', 'US'],
    ['+1 876 234 1234', 'JM'],
    ['+7 100 123 4567', 'RU'],
    ['+7 701 234 5678', 'KZ'],
    ['+44 1534 234567', 'JE'],
    ['+262 999 12 34 56', 'RE'],
    ['+262 639 01 23 45', 'YT'],
    ['+590 999 12 34 56', 'GP'],
    ['+599 9 999 9999', 'CW'],
  ])('assigns %s to %s, and an unknown range to the main country of its calling code', (to, country) => {
    expect(phoneOf(to).country).toBe(country);
  });

  it('returns ZZ for a calling code without a country', () => {
    expect(parseRecipient('+800 1234 5678')).toEqual(phone('+80012345678', 'ZZ'));
  });

  it.each([
    ['+55 11 8765-4321', '+551187654321', 'BR', '+5511987654321'],
    ['+52 1 55 1234 5678', '+5215512345678', 'MX', '+525512345678'],
    ['+54 11 15 2345 6789', '+5491123456789', 'AR', '+5491123456789'],
    ['+54 011 15 2345 6789', '+5491123456789', 'AR', '+5491123456789'],
  ])('keeps %j as %s (%s), and returns the canonical form %s', (to, e164, country, canonical) => {
    expect(parseRecipient(to)).toEqual(phone(e164, country, canonical));
  });

  it.each([
    ['no characters', ''],
    ['only spaces', '   '],
    ['only brackets', '+( )-'],
    ['no plus', '5511987654321'],
    ['an international prefix in place of the plus', '005511987654321'],
    ['an extension', '+1 415 555 2671 ext. 12'],
    ['text before it', 'call +5511987654321'],
    ['too few digits', '+55119'],
    ['one digit', '+5'],
    ['too many digits', '+5511987654321987'],
    ['more than 254 characters', '+5511987654321'.padStart(255)],
    ['more digits than E.164 allows, although its country allows them', '+49 1234 5678 9123 45'],
    ['an unknown country code', '+999123456789'],
    ['a country code that begins with zero', '+0511987654321'],
    ['two plusses', '++5511987654321'],
    ['a plus in the middle', '+55+11987654321'],
    ['a plus at the end', '5511987654321+'],
    ['a plus in brackets', '(+55) 11 98765-4321'],
    ['the 1 of Mexican mobile numbers before too few digits', '+52 1 55 1234 56'],
    ['the 1 of Mexican mobile numbers before too many digits', '+52 1 55 1234 56789'],
    ['the 1 of Mexican mobile numbers before a number that starts with 1', '+52 1 15 1234 5678'],
    ['a zero that Chile does not have', '+56 09 1234 5678'],
    ['a zero that Czechia does not have', '+420 0601 123 456'],
    ['a zero that Mexico does not have', '+52 0 55 1234 5678'],
    ['a zero that is not Hungary’s 06', '+36 0 1 234 5678'],
    ['a zero in place of an area code of North America', '+1 041 555 2671'],
  ])('rejects a number with %s', (_, to) => {
    expect(parseRecipient(to)).toMatchObject({ kind: 'invalid' });
  });

  it.each([
    ['length', '+4477009001'],
    ['length', '+55 11 98765 43219'],
    ['country_code', '+999123456789'],
    ['country_code', '+0511987654321'],
    ['form', '4477009001'],
    ['form', '+55 11 a'],
  ])('returns the fault %s for %s', (fault, to) => {
    expect(parseRecipient(to)).toEqual({ kind: 'invalid', fault });
  });

  it.each([...'Sx.,:;#*%/[]+\0\t\n', '\u00a0', '\u200b', '\u200e', '\u2013', '\u0665', '\uff0b', '\uff15'])(
    'rejects %j before, within and after a number',
    (character) => {
      for (const text of [
        `${character}+5511987654321`,
        `+55${character}11987654321`,
        `+5511987654321${character}`,
      ])
        expect(parseRecipient(text)).toMatchObject({ kind: 'invalid' });
    },
  );

  it('removes a zero after the calling code if it is the national prefix, and keeps it if numbers start with zero', () => {
    const own = getCountries().map((country) => getExampleNumber(country, examples)!);
    const withZeros = (zeros: string) =>
      own.map((number) => ({
        number,
        read: parseRecipient(`+${number.countryCallingCode} ${zeros}${number.nationalNumber}`),
      }));
    const others = [...withZeros('0'), ...withZeros('00')].filter(
      ({ number, read }) => read.kind === 'phone' && read.e164 !== number.number,
    );
    expect(new Set(others.map(({ number }) => number.country))).toEqual(
      new Set(['AC', 'ID', 'IT', 'JP', 'KR', 'VA']),
    );
    for (const { number, read } of others)
      expect(read).toMatchObject({
        e164: expect.stringMatching(`^\\+${number.countryCallingCode}00?${number.nationalNumber}$`),
      });
  });

  it('returns a form that the table of sends accepts, and a country of the calling code', () => {
    const callingCodes = new Set<string>(getCountries().map((country) => getCountryCallingCode(country)));
    const all = [...callingCodes, '800', '808', '870', '878', '881', '882', '883', '888', '979'];
    const isLong = process.env['ALL_TESTS'] === '1';
    let read = 0;
    for (const code of isLong ? all : all.filter((_, index) => index % 4 === 0))
      for (let digits = 1; digits <= 17; digits++)
        for (const first of '0123456789') {
          const recipient = parseRecipient(`+${code}${first}${'2345678912345678'.slice(0, digits - 1)}`);
          if (recipient.kind !== 'phone') continue;
          read += 1;
          expect(recipient.e164).toMatch(/^\+[1-9][0-9]{4,14}$/);
          expect(recipient.canonical).toMatch(/^\+[1-9][0-9]{4,14}$/);
          expect(callingCodes.has(code) ? countriesOf(`+${code}`) : ['ZZ']).toContain(recipient.country);
        }
    expect(read).toBeGreaterThan(isLong ? 5000 : 1250);
  });

  it('takes less than three seconds for a hostile text of 64 KiB', () => {
    for (const filler of [' ', '+', '0', '(', '-', 'a', 'a.', '@', 'a@', '\u00e9']) {
      const hostile = filler.repeat(Math.ceil(65_536 / filler.length));
      const began = performance.now();
      parseRecipient(`+${hostile}x`);
      parseRecipient(`a@${hostile}x`);
      // A quadratic search would take minutes.
      expect(performance.now() - began).toBeLessThan(3_000);
    }
  });
});

describe('parseRecipient with a premium-rate number', () => {
  it.each([
    ['a satellite telephone of Inmarsat', '+870773111632'],
    ['a satellite telephone of Iridium', '+881612345678'],
    ['an international network', '+88213300655'],
    ['another international network', '+883510012345'],
    ['relief in disasters', '+88812345678901'],
    ['international premium rate', '+979123456789'],
    ['international shared cost', '+80812345678'],
    ['an international personal number', '+878101234567890'],
    ['premium rate in the United States', '+19005551234'],
    ['premium rate in the United Kingdom', '+449012345678'],
    ['premium rate in Mexico, in the old form', '+5219001234567'],
    ['shared cost in Germany', '+491801234567'],
    ['a universal access number of the United Kingdom', '+443001234567'],
    ['a personal number of the United Kingdom', '+447012345678'],
    ['a pager of the United Kingdom', '+447640123456'],
    ['voicemail in Germany', '+49177991234567'],
  ])('sets isPremiumRate for %s', (_, to) => expect(phoneOf(to).isPremiumRate).toBe(true));

  it.each([
    ['a number for calls over the internet', '+33912345678'],
    ['a freephone number', '+18005551234'],
    ['a number of an unknown range', '+12005551234'],
  ])('does not set isPremiumRate for %s', (_, to) => expect(phoneOf(to).isPremiumRate).toBe(false));
});

describe('parseRecipient with an e-mail address', () => {
  it.each([
    'Ana.Souza@example.com.br',
    '  ana@example.com  ',
    '+5511987654321@example.com',
    'jos\u00e9@exemplo.com.br',
    'ana@correi\u00f3s.example',
    'a@b.co',
    'ana@sub-domain.example.com',
    "o'brien@example.com",
    `${'a'.repeat(242)}@example.com`,
  ])('accepts %j', (to) => {
    expect(parseRecipient(to)).toEqual({ kind: 'email' });
  });

  it.each([
    'ana',
    '@example.com',
    'ana@example',
    'ana@@example.com',
    'ana souza@example.com',
    'ana@example..com',
    '.ana@example.com',
    'ana.@example.com',
    'ana@-example.com',
    'ana@example-.com',
    'Ana <ana@example.com>',
    'ana@example.com,bob@example.com',
    'ana@example.com\n',
    'ana@example.com\u00a0',
    `${'a'.repeat(243)}@example.com`,
  ])('rejects %j', (to) => {
    expect(parseRecipient(to)).toEqual({ kind: 'invalid', fault: 'form' });
  });
});

describe('isCountry, isCountryTarget and countriesOf', () => {
  it.each(['BR', 'US', 'GB', 'ZW'])('isCountry returns true for %s', (code) =>
    expect(isCountry(code)).toBe(true),
  );
  it.each(['ZZ', 'br', 'BRA', 'B', '', '001', 'Br', 'BR ', '__proto__'])(
    'isCountry returns false for %j',
    (code) => expect(isCountry(code)).toBe(false),
  );
  it('countriesOf returns every country of a shared calling code', () => {
    expect(countriesOf('+44')).toEqual(['GB', 'GG', 'IM', 'JE']);
    expect(countriesOf('+55')).toEqual(['BR']);
    for (const none of ['44', '+', '+0', '+999', '+881', 'GB', '']) expect(countriesOf(none)).toEqual([]);
  });
  it('isCountry returns false for the code of numbers without a country', () => {
    expect(NO_COUNTRY).toMatch(/^[A-Z]{2}$/);
    expect(isCountry(NO_COUNTRY)).toBe(false);
  });
  it.each([
    ['BR', true],
    [NO_COUNTRY, true],
    ['XX', false],
  ])('isCountryTarget(%j) returns %s', (target, isTarget) => {
    expect(isCountryTarget(target)).toBe(isTarget);
  });
});

describe('maskNumberIn', () => {
  it.each([
    ['Request 17 of +55 11 98765-4321.', 'Request 17 of +55 ••••• 4321.'],
    ['wa.me/551187654321', 'wa.me/+55 ••••• 4321'],
    ['call (011) 9.8765.4321, then 2026-11-29', 'call (+55 ••••• 4321, then 2026-11-29'],
    ['ticket 98765432, +55 11 98765-4322', 'ticket 98765432, +55 11 98765-4322'],
  ])('changes %s to %s', (text, masked) => {
    expect(maskNumberIn(text, '+5511987654321')).toBe(masked);
  });

  it('masks a national number that is shorter than eight digits', () => {
    expect(maskNumberIn('Request 17 of 581-2345.', '+3545812345')).toBe('Request 17 of +354 ••••• 345.');
  });
});

describe('maskRecipient', () => {
  it.each([
    ['+5511987654321', '+55 ••••• 4321'],
    ['+14155552671', '+1 ••••• 2671'],
    ['+351912345678', '+351 ••••• 5678'],
    ['+80012345678', '+800 ••••• 5678'],
    ['+29022158', '+290 ••••• 58'],
    ['+1234567', '+1 ••••• 567'],
    ['+99912345', '+••••• 2345'],
    ['+9991234', '+••••• 234'],
  ])('masks %s as %s', (e164, shown) => {
    expect(maskRecipient(e164)).toBe(shown);
  });

  it('shows at most four of the last digits and at most half of all digits, and hides the length', () => {
    for (const country of getCountries())
      for (const length of [4, 5, 7, 9, 11]) {
        const code = getCountryCallingCode(country);
        const national = '2718281828459'.slice(0, Math.min(length, 15 - code.length));
        const masked = maskRecipient(`+${code}${national}`);
        const shown = /^\+[0-9]* ?•{5} ([0-9]*)$/.exec(masked)?.[1] ?? 'nothing';
        expect(shown.length).toBeLessThanOrEqual(Math.min(4, (code.length + national.length) / 2));
      }
  });
});

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

/** Returns all forms of one subscriber's number according to the numbering plans, independently of the code under test. */
function formsOf(e164: string): string[] {
  const brazil = /^\+55([1-9][1-9])(9?)([6-9]\d{7})$/.exec(e164);
  if (brazil !== null) return [`+55${brazil[1]}9${brazil[3]}`, `+55${brazil[1]}${brazil[3]}`];
  const mexico = /^\+521?([2-9]\d{9})$/.exec(e164);
  if (mexico !== null) return [`+52${mexico[1]}`, `+521${mexico[1]}`];
  const argentina = /^\+549?((?:11|2\d|3\d)\d{8})$/.exec(e164);
  if (argentina !== null) return [`+54${argentina[1]}`, `+549${argentina[1]}`];
  return [e164];
}

describe('canonicalNumber', () => {
  it.each([
    ['a mobile number of Brazil without its ninth digit', '+557168765432', '+5571968765432'],
    ['a landline of Brazil', '+551137654321', '+551137654321'],
    ['a free number of Brazil', '+558007654321', '+558007654321'],
    ['a mobile number of Mexico in its form before 2019', '+5215512345678', '+525512345678'],
    ['a number of Mexico that begins with 1 and is too short', '+521551234567', '+521551234567'],
    ['a number of Mexico that begins with 1 and is too long', '+52155123456789', '+52155123456789'],
    ['a number of Argentina that is too long', '+5411234567890', '+5411234567890'],
    ['a mobile number of Argentina without the 9', '+542966429999', '+5492966429999'],
    ['a number of Argentina without an area code', '+541523456789', '+541523456789'],
    ['a free number of Argentina', '+548001234567', '+548001234567'],
  ])('maps %s, %s, to %s', (_, e164, canonical) => {
    expect(canonicalNumber(e164)).toBe(canonical);
  });

  it('returns one form for all forms of a number', () => {
    fc.assert(
      fc.property(numberOfTwoForms, (e164) => {
        expect(new Set(formsOf(e164).map(canonicalNumber)).size).toBe(1);
      }),
    );
  });

  it('returns different forms for numbers that differ in a digit or lack one', () => {
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
      { numRuns: 2000 },
    );
  });

  it('returns the number itself in every other country', () => {
    fc.assert(
      fc.property(
        anyNumber.filter((e164) => !PLANS_WITH_TWO_FORMS.has(e164.slice(1, 3))),
        (e164) => {
          expect(canonicalNumber(e164)).toBe(e164);
        },
      ),
    );
  });

  it('returns a valid recipient that is its own canonical form', () => {
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
