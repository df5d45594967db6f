import { coolDownSeconds } from '@onecode/domain';

describe('the cool-down of a sender', () => {
  it('is a minute after the first failure in a row, doubles each time, and is an hour at most', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 100, 2_000_000_000].map(coolDownSeconds)).toEqual([
      60, 120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600,
    ]);
  });
});
