import { useClock } from '@onecode/testing';

/** The time limits of requests in these tests, in milliseconds: every other timer is a pause of the client. */
const TIME_LIMITS_MS = new Set([50, 100, 400, 500, 10_000]);

/**
 * The client's pauses between its requests, in milliseconds, from the beginning of each test. They take no time; the clock goes on by
 * them. Use it inside hooks and tests only.
 */
export function usePauses(): readonly number[] {
  const clock = useClock();
  const pauses: number[] = [];
  const { setTimeout: start } = globalThis;
  beforeAll(() => {
    globalThis.setTimeout = ((act: () => void, ms: number) => {
      if (TIME_LIMITS_MS.has(ms)) return start(act, ms);
      pauses.push(ms);
      return start(() => {
        clock.advance(ms);
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
