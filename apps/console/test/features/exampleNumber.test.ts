import { COUNTRIES, parseRecipient } from '@onecode/domain';
import { exampleNumber } from '../../src/features/tryout/exampleNumber.js';

/** Countries that share a calling code with a larger country: only number ranges distinguish the two. */
const SHARED = new Set(['AX', 'BL', 'CC', 'CX', 'EH', 'IM', 'MF', 'SJ', 'VA']);

it.each(COUNTRIES)('exampleNumber(%s) returns a valid recipient', (country) => {
  const read = parseRecipient(exampleNumber(country));
  expect(read).toMatchObject({ kind: 'phone', isPremiumRate: false });
  if (!SHARED.has(country)) expect(read).toMatchObject({ country });
});
