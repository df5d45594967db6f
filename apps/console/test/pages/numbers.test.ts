import { readNumber } from '../../web/src/components/readNumber.js';

const [NBSP, NARROW, THIN] = ['\u00a0', '\u202f', '\u2009'];

describe('readNumber', () => {
  const both: readonly [string, number | string][] = [
    ['5', 5],
    ['0', 0],
    ['05', 5],
    ['2500', 2500],
    [' 2500\t', 2500],
    ['2 500', 2500],
    [`12${NBSP}345${NBSP}678`, 12_345_678],
    [`12${NARROW}345`, 12_345],
    [`12${THIN}345`, 12_345],
    [`12${NBSP}345 678`, 'digits'],
    ['12 34', 'digits'],
    ['2  500', 'digits'],
    ['1234 567', 'digits'],
    ['0 500', 'digits'],
    ['100; 200', 'digits'],
    ['', 'empty'],
    [`  ${NBSP}`, 'empty'],
    ['+5', 'digits'],
    ['-5', 'digits'],
    ['\u22125', 'digits'],
    ['(5)', 'digits'],
    ['1e3', 'digits'],
    ['0x10', 'digits'],
    ['0b1', 'digits'],
    ['1_000', 'digits'],
    ["1'000", 'digits'],
    ['1k', 'digits'],
    ['R$ 100', 'digits'],
    ['$100', 'digits'],
    ['100%', 'digits'],
    ['١٢٣', 'digits'],
    ['１２３', 'digits'],
    ['5²', 'digits'],
    ['½', 'digits'],
    ['12.34.567', 'digits'],
    ['12,34,567', 'digits'],
    ['1.000,000.5', 'digits'],
    ['Infinity', 'digits'],
    ['NaN', 'digits'],
    ['5\u200b', 'digits'],
    ['999999999999999', 999_999_999_999_999],
    ['9007199254740993', 'large'],
    ['9'.repeat(400), 'large'],
  ];
  it.each(both)('reads %j in both languages', (text, read) => {
    expect([readNumber(text, 'en'), readNumber(text, 'pt-BR')]).toEqual([read, read]);
  });

  // In Portuguese the separators are the other way round.
  const english: readonly [string, number | string][] = [
    ['2,500', 2500],
    ['1,234,567', 1_234_567],
    ['2.500', 'thousands'],
    ['12.000', 'thousands'],
    ['2.5', 'decimals'],
    ['1.00', 'decimals'],
    ['1.0000', 'decimals'],
    ['1,000.00', 'decimals'],
    ['0.500', 'decimals'],
    ['1.000.000', 'digits'],
    ['1.000,00', 'digits'],
    ['0,500', 'digits'],
    ['1,00', 'digits'],
    ['1,0000', 'digits'],
    ['1,', 'digits'],
    ['1.', 'digits'],
    ['.5', 'digits'],
    ['1,000 000', 'digits'],
  ];
  const swap = (text: string): string => text.replaceAll(/[.,]/g, (mark) => (mark === ',' ? '.' : ','));
  it.each(english)('reads %j in English, and its counterpart in Portuguese', (text, read) => {
    expect([readNumber(text, 'en'), readNumber(swap(text), 'pt-BR')]).toEqual([read, read]);
  });

  const prices: readonly [string, number | string][] = [
    ['0.0068', 0.0068],
    ['1.50', 1.5],
    ['1,000.25', 1000.25],
    ['0.000001', 0.000001],
    ['0.0000001', 'decimals'],
    ['0,0068', 'digits'],
    ['.0068', 'digits'],
    ['1,00', 'digits'],
    ['6.8e-3', 'digits'],
    ['1234567890123.456', 'large'],
  ];
  it.each(prices)('reads the price %j in English, and its counterpart in Portuguese', (text, read) => {
    expect([readNumber(text, 'en', 6), readNumber(swap(text), 'pt-BR', 6)]).toEqual([read, read]);
  });
});
