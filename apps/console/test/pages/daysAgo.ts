/** Returns the day that was a number of days ago in UTC, such as 2026-11-29. */
export const daysAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
