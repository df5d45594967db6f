/** 2009-01-01. WhatsApp did not exist before that day. */
const EARLIEST_SECONDS = 1_230_768_000;
const CLOCK_SKEW_SECONDS = 300;

/** Returns the time of a webhook's `timestamp`, in whole seconds; the current time if it is missing or impossible. */
export function timeOf(timestamp: unknown): Date {
  const text = typeof timestamp === 'string' || typeof timestamp === 'number' ? String(timestamp) : '';
  const now = Date.now();
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : NaN;
  const isPossible = seconds >= EARLIEST_SECONDS && seconds <= now / 1000 + CLOCK_SKEW_SECONDS;
  return new Date(isPossible ? seconds * 1000 : now);
}
