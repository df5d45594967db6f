import type { ServerResponse } from 'node:http';
import type { RateWindow } from '@onecode/domain';

/**
 * Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): for each active limit its quota, window and remainder.
 * For a refused request, `t` is set for exhausted limits only. The draft requires `Retry-After` to be no earlier than any `t`, but a limit
 * that is not exhausted may reset later than that.
 */
export function setRateLimit(
  response: ServerResponse,
  windows: readonly RateWindow[],
  isRefused: boolean,
): void {
  const policies = windows.map(({ limit, quota, windowMs }) => `"${limit}";q=${quota};w=${windowMs / 1000}`);
  const states = windows.map(({ limit, left, opensInMs }) => {
    const state = `"${limit}";r=${Math.max(left, 0)}`;
    return isRefused && left > 0 ? state : `${state};t=${Math.ceil(opensInMs / 1000)}`;
  });
  response.setHeader('RateLimit-Policy', policies.join(', '));
  response.setHeader('RateLimit', states.join(', '));
}
