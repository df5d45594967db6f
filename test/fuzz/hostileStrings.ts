import fc from 'fast-check';

/** Strings that have broken programs before, for members, headers and paths. */
const STRINGS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\r\nX-Injected: yes',
  '\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  '\u001b[2J',
  '\u007f\u0080\u009f',
  '\ufeff',
  '\ufffe\uffff',
  '\ud800',
  '\udc00\ud800',
  '😀',
  '👩‍👩‍👧‍👦🏳️‍🌈',
  '\u202e\u2066‮cba',
  'مرحبا',
  'שלום',
  'e\u0301'.repeat(50),
  `Z${'\u0300'.repeat(500)}`,
  '٠٠٠٠٠٠',
  '０００００００',
  'İıſ',
  'ﷺ',
  '\u2028\u2029',
  `'; drop table sends; --`,
  `' or '1'='1`,
  '$1::uuid',
  '\\',
  '\\x00',
  '%00',
  '%s%n%d%x',
  '{{7*7}}${7*7}#{7*7}',
  '$(reboot)',
  '`reboot`',
  '| cat /etc/passwd',
  '../../../../etc/passwd',
  '..\\..\\',
  'file:///etc/passwd',
  '<script>alert(1)</script>',
  '<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]>',
  '(&(uid=*))',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  'true',
  '-0',
  '1e309',
  '9007199254740993',
  '999999999999999999999999999999',
  '+5511987654321;ext=1',
  'tel:+5511987654321',
  '+٤٤٧٧٠٠٩٠٠١٢٣',
  '＋447700900123',
  '+447700900123\0',
  '+44 7700 900123'.padEnd(2_000, ' '),
  'a@b.example',
  '"a b"@[127.0.0.1]',
  `${'a'.repeat(64)}@${'b.'.repeat(90)}example`,
  `${'a.'.repeat(400)}@`,
  `+${'('.repeat(990)}`,
  '0000',
  '00000000000',
];

/** Strings that are hostile, random or very long. */
export const hostileStrings: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...STRINGS) },
  {
    weight: 2,
    arbitrary: fc.array(fc.nat(0xffff), { maxLength: 40 }).map((units) => String.fromCharCode(...units)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...STRINGS.filter((text) => text !== '')), fc.integer({ min: 2, max: 4_000 }))
      .map(([text, times]) => text.repeat(times).slice(0, 16_000)),
  },
);

/** A percent-encoded text; lone surrogates, which have no encoding, become U+FFFD. */
export function percentEncoded(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString());
}

/** Deep enough to overflow a stack, and small enough for the body limit. */
const DEPTH = 30_000;

/** JSON texts that no operation expects. */
export const HOSTILE_JSON: readonly string[] = [
  '['.repeat(DEPTH) + ']'.repeat(DEPTH),
  '['.repeat(2 * DEPTH),
  `${'{"a":'.repeat(DEPTH / 3)}1${'}'.repeat(DEPTH / 3)}`,
  '{"__proto__":{"valid":true}}',
  '{"constructor":{"prototype":{"valid":true}}}',
  '{"toString":"x","valueOf":"x","hasOwnProperty":"x"}',
  `{${'"a":"b",'.repeat(7_000)}"a":"b"}`,
  `{${Array.from({ length: 5_000 }, (_, index) => `"m${index}":0`).join()}}`,
  `[${'0,'.repeat(30_000)}0]`,
  '9'.repeat(60_000),
  `-0.${'0'.repeat(60_000)}1`,
  '1e999999999',
  '"\\ud800"',
  '{"\\u0000":"\\u0000"}',
  '{"":""}',
  `"${'\\\\'.repeat(30_000)}"`,
  `"${'\\"'.repeat(30_000)}"`,
  `"${'\\'.repeat(60_000)}`,
];
