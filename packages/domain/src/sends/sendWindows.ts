/** The window of a limit that is in force. */
export interface RateWindow {
  limit: 'account' | 'application' | 'recipient';
  windowMs: number;
  /** Sends in one window. */
  quota: number;
  /** Negative after the quota was lowered. */
  left: number;
  /** Milliseconds until the window has room for one more send. */
  opensInMs: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** A flat list of pairs, oldest first: a time in milliseconds since 1970, then the number of sends that count as created at that time. */
export type SendTimes = number[];

/** Returns the sends of the last minute. Drops times more than a minute ahead, which were recorded before the clock stepped back. */
export function timesOfMinute(times: Readonly<SendTimes>, now: number): SendTimes {
  return times.filter((_, index) => {
    const time = times[index - (index % 2)] as number;
    return time > now - MINUTE_MS && time <= now + MINUTE_MS;
  });
}

/** Returns a limit's window. @param times the sends in the window */
export function windowOf(
  limit: RateWindow['limit'],
  quota: number,
  times: Readonly<SendTimes>,
  windowMs: number,
  now: number,
): RateWindow {
  let sends = 0;
  // The oldest of the newest `quota` sends. When it has left the window, there is room for one more send.
  let oldest = now;
  for (let index = times.length - 2; index >= 0; index -= 2) {
    if (sends < quota) oldest = times[index] as number;
    sends += times[index + 1] as number;
  }
  return { limit, windowMs, quota, left: quota - sends, opensInMs: Math.min(now, oldest) + windowMs - now };
}

/**
 * Returns the times with this number of new sends. Sends of one second share an entry, which has the time of the last one, so a minute has
 * at most 61 entries.
 */
export function addSends(times: Readonly<SendTimes>, sends: number, now: number): Readonly<SendTimes> {
  if (sends === 0) return times;
  const [last = now, lastSends = 0] = times.slice(-2);
  // The clock may have stepped back a little.
  const at = Math.max(now, last);
  return Math.floor(last / 1000) === Math.floor(at / 1000)
    ? [...times.slice(0, -2), at, lastSends + sends]
    : [...times, at, sends];
}
