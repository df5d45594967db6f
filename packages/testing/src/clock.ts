/** The steady clock of this process, `performance.now`, which a test can put forward. */
export interface Clock {
  advance(ms: number): void;
}

/** The clock for all tests of a file: timers and the time of day stay as they are. Use it inside hooks and tests only. */
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
