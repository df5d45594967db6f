import type { ServerResponse } from 'node:http';
import type { RateWindow, RateWindows } from '@onecode/domain';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/**
 * Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): for each active limit its quota, window and remainder.
 * For a refused request, `t` is set for exhausted limits only. The draft requires `Retry-After` to be no earlier than any `t`, but a limit
 * that is not exhausted may reset later than that.
 */
export function setRateLimit(response: ServerResponse, windows: RateWindows, isRefused: boolean): void {
  const limits = [
    limit('account', windows.account, MINUTE_SECONDS),
    limit('application', windows.application, MINUTE_SECONDS),
    limit('recipient', windows.recipient, HOUR_SECONDS),
  ].filter((one) => one !== null);
  const policies = limits.map(({ name, quota, seconds }) => `"${name}";q=${quota};w=${seconds}`);
  const states = limits.map(({ name, left, secondsToMore }) =>
    isRefused && left > 0 ? `"${name}";r=${left}` : `"${name}";r=${left};t=${secondsToMore}`,
  );
  response.setHeader('RateLimit-Policy', policies.join(', '));
  response.setHeader('RateLimit', states.join(', '));
}

function limit(
  name: string,
  window: RateWindow | null,
  seconds: number,
): (RateWindow & { name: string; seconds: number }) | null {
  return window && { ...window, name, seconds };
}
