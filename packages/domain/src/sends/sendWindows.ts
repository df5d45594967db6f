/** The state of a limit after a request. */
export interface RateWindow {
  /** Sends in one window. */
  quota: number;
  left: number;
  /** Seconds until the oldest send leaves the window, so that one more is allowed. */
  secondsToMore: number;
}

/** The windows of the limits that are in force. The account's and the application's last a minute, the recipient's an hour. */
export interface RateWindows {
  account: RateWindow;
  application: RateWindow | null;
  recipient: RateWindow | null;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** A flat list of pairs, oldest first: a time in milliseconds since 1970, then the number of sends that leave a window at that time. */
export type SendTimes = number[];

/** A window of a limit: `left` can be negative after the quota was lowered, and `opensAt` is when the window has room for one more send. */
export interface OpenWindow {
  quota: number;
  left: number;
  opensAt: number;
}

/**
 * Returns the sends that are still in the window. Times more than a window ahead are dropped: they were recorded before the clock stepped
 * back.
 */
export function timesWithin(times: Readonly<SendTimes>, windowMs: number, now: number): SendTimes {
  return times.filter((_, index) => {
    const time = times[index - (index % 2)] as number;
    return time > now - windowMs && time <= now + windowMs;
  });
}

/** Returns a limit's window. @param times the sends in the window */
export function windowOf(
  quota: number,
  times: Readonly<SendTimes>,
  windowMs: number,
  now: number,
): OpenWindow {
  let sends = 0;
  for (let index = 1; index < times.length; index += 2) sends += times[index] as number;
  // The window has room when the sends above the quota and one more have left it.
  let older = Math.max(0, sends - quota);
  let index = 0;
  while (index < times.length && older >= (times[index + 1] as number)) {
    older -= times[index + 1] as number;
    index += 2;
  }
  return { quota, left: quota - sends, opensAt: Math.min(now, times[index] ?? now) + windowMs };
}

/** Adds a send. Sends of one second share an entry, which has the time of the last one, so a minute has at most 61 entries. */
export function addToSecond(times: SendTimes, now: number): void {
  const last = times.length - 2;
  // The clock may have stepped back a little.
  const at = Math.max(now, times[last] ?? now);
  if (last >= 0 && Math.floor((times[last] as number) / 1000) === Math.floor(at / 1000)) {
    times[last] = at;
    (times[last + 1] as number) += 1;
  } else times.push(at, 1);
}

/** Returns the window for a response, in whole seconds. @param sends created since the window was counted */
export function roundWindow({ quota, left, opensAt }: OpenWindow, sends: number, now: number): RateWindow {
  return { quota, left: Math.max(left - sends, 0), secondsToMore: Math.ceil((opensAt - now) / 1000) };
}
