/** The monotonic clock of this process, `performance.now`, which a test can advance. */
export interface Clock {
  advance(ms: number): void;
}

/** Returns the clock for all tests of a file. Timers and `Date` are not changed. Use it inside hooks and tests only. */
export function useClock(): Clock {
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  beforeAll(() => {
    performance.now = () => now() + aheadMs;
  });
  afterAll(() => {
    performance.now = now;
  });
  return {
    advance(ms) {
      aheadMs += ms;
    },
  };
}
