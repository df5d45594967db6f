import { guessCost } from '@onecode/domain';

it.each([
  ['1234', 100],
  ['00000', 10],
  ['123456', 1],
  ['1234567890', 1],
])('a wrong guess at a code such as %s costs %d', (code, cost) => {
  expect(guessCost(code)).toBe(cost);
});
