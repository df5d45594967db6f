/** `describe`, or `describe.skip` unless this machine has what the tests need. Outside Jest there is neither. */
export function describeIf(isAvailable: boolean): jest.Describe {
  if (typeof describe === 'undefined') return undefined as unknown as jest.Describe;
  return isAvailable ? describe : describe.skip;
}
