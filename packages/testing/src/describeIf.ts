/** Returns `describe` if the requirements of the tests are available, else `describe.skip`. Outside Jest, returns undefined. */
export function describeIf(isAvailable: boolean): jest.Describe {
  if (typeof describe === 'undefined') return undefined as unknown as jest.Describe;
  return isAvailable ? describe : describe.skip;
}
