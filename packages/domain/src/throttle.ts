/** Milliseconds of the waits after the first, second and further refusals in a row, without jitter. */
const THROTTLE_WAITS_MS = [2_000, 4_000, 8_000, 10_000] as const;
/** Seconds of the same for one sender and one recipient: Meta's advice for error 131056 is 4^n. */
const WINDOW_WAITS_SECONDS = [4, 16, 64, 256] as const;
/** No wait is longer, whatever the provider asks for. */
const WAIT_MS_MAX = 900_000;

/**
 * Milliseconds that what was throttled sends nothing, after its first, second and further refusals in a row; the last one counts for
 * all that follow. Exponential, with up to half as much again as jitter, and never shorter than what the provider asked for by
 * Retry-After. After the wait one message goes out as a probe (see `active_throttles`).
 *
 * @param random a number from 0 up to, not including, 1
 */
export function throttleWaitsMs(retryAfterSeconds: number | null, random: number): number[] {
  return THROTTLE_WAITS_MS.map((ms) => wait(ms, retryAfterSeconds, random));
}

/** `throttleWaitsMs` for one sender and one recipient. */
export function windowWaitsMs(retryAfterSeconds: number | null, random: number): number[] {
  return WINDOW_WAITS_SECONDS.map((seconds) => wait(seconds * 1_000, retryAfterSeconds, random));
}

function wait(ms: number, retryAfterSeconds: number | null, random: number): number {
  return Math.round(Math.min(WAIT_MS_MAX, Math.max(ms * (1 + random / 2), (retryAfterSeconds ?? 0) * 1_000)));
}
