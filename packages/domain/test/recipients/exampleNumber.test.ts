import { COUNTRIES, exampleNumber, parseRecipient } from '@onecode/domain';

/** Their numbers are told from those of a larger country by ranges alone. */
const SHARED = new Set(['AX', 'BL', 'CC', 'CX', 'EH', 'IM', 'MF', 'SJ', 'VA']);

it.each(COUNTRIES)('the example of %s is a number that may be sent to', (country) => {
  const read = parseRecipient(exampleNumber(country));
  expect(read).toMatchObject({ kind: 'phone', isPremiumRate: false });
  if (!SHARED.has(country)) expect(read).toMatchObject({ country });
});
