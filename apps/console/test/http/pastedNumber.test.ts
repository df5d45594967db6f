import { parseRecipient } from '@onecode/domain';
import { pastedNumber } from '../../src/http/pastedNumber.js';

describe('pastedNumber', () => {
  it.each([
    ['+55\u00a011\u00a098765\u20114321', '+55 11 98765-4321'],
    ['\u202a+55 11 98765\u20134321\u202c', '+55 11 98765-4321'],
    ['\ufeff+55\u200b11\u202f98765\u22124321\n', '+5511 98765-4321'],
    ['\t+55\u200911\u300098765\u20144321\u2028', '+55 11 98765-4321'],
    ['\uff0b\uff15\uff1511987654321', '+5511987654321'],
    ['whatsapp:+5511987654321', '+5511987654321'],
    ['tel:+55-11-98765-4321', '+55-11-98765-4321'],
    ['wa.me/5511987654321', '+5511987654321'],
    ['https://wa.me/+5511987654321?text=oi', '+5511987654321'],
    ['https://api.whatsapp.com/send?phone=%2B5511987654321&text=oi', '+5511987654321'],
    ['https://api.whatsapp.com/send/?text=oi&phone=5511987654321', '+5511987654321'],
    ['https://web.whatsapp.com/send?phone=5511987654321', '+5511987654321'],
    ['whatsapp://send?phone=5511987654321', '+5511987654321'],
    ['whatsapp: +55 11 98765-4321', '+55 11 98765-4321'],
    ['whatsapp://send?text=oi', 'whatsapp://send?text=oi'],
    ['https://wa.me/message/ABC', 'https://wa.me/message/ABC'],
    ['+55 11 98765-4321', '+55 11 98765-4321'],
    ['ana@example.com', 'ana@example.com'],
    ['5511987654321', '5511987654321'],
  ])('reads %j as %s', (text, number) => {
    expect(pastedNumber(text)).toBe(number);
  });
});

describe('parseRecipient with a footnote mark in the number', () => {
  it.each(['+49 30 123456²', '+49 30 12345½', '+49 30 123456①'])('rejects %s', (text) => {
    expect(parseRecipient(pastedNumber(text))).toMatchObject({ kind: 'invalid' });
  });
});
