import { useClock } from '@onecode/testing';

/** Time limits of requests in these tests, in milliseconds; all other timers are pauses of the client. */
const TIME_LIMITS_MS = new Set([50, 100, 400, 500, 10_000]);

/**
 * Records the client's pauses between requests in milliseconds, starting with each test. They take no time, but advance the clock. Use it
 * only inside hooks and tests.
 *
 * @param overshootMs returns how much longer than requested a pause is, as in a process that was suspended
 */
export function usePauses(overshootMs = (): number => 0): readonly number[] {
  const clock = useClock();
  const pauses: number[] = [];
  const { setTimeout: start } = globalThis;
  beforeAll(() => {
    globalThis.setTimeout = ((act: () => void, ms: number) => {
      if (TIME_LIMITS_MS.has(ms)) return start(act, ms);
      pauses.push(ms);
      return start(() => {
        clock.advance(ms + overshootMs());
        act();
      }, 0);
    }) as typeof setTimeout;
  });
  beforeEach(() => {
    pauses.length = 0;
  });
  afterAll(() => {
    globalThis.setTimeout = start;
  });
  return pauses;
}
