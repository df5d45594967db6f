/** `describe`, or `describe.skip` unless this machine has what the tests need. Outside Jest there is neither. */
export function describeIf(isAvailable: boolean): jest.Describe {
  if (typeof describe === 'undefined') return undefined as unknown as jest.Describe;
  return isAvailable ? describe : describe.skip;
}

/** Whether `npm run test:all` runs, which has more time than `npm test`. */
export const IS_EVERY_TEST = process.env['ALL_TESTS'] === '1';
