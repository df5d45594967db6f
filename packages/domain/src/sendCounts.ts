import { FAILURE_REASONS } from './send.js';

/** What sends are counted by. A code that is neither verified nor locked is `expired` once its time is over. The last are failures, by reason. */
export const COUNTS = [
  'created',
  'sent',
  'delivered',
  'read',
  'verified',
  'locked',
  'expired',
  ...FAILURE_REASONS,
] as const;

/** How many of some sends came how far. The sum of the counts of disjoint sends is the count of all of them. */
export interface SendCounts extends Record<(typeof COUNTS)[number], number> {
  /** How many took so long from the creation to the delivery and to the right code, by the buckets between `TIME_BOUNDS`. */
  deliveryTimes: number[];
  verificationTimes: number[];
  /** Delivered messages by what the provider charges: `authentication billable` or `service free` for example. */
  prices: Record<string, number>;
}

/** Seconds between the buckets of times, each 9% longer than the one before. The first bucket begins at 0, the last one has no end. */
export const TIME_BOUNDS: readonly number[] = Array.from({ length: 105 }, (_, n) => 2 ** (n / 8));

export const noSends = (): SendCounts => ({
  ...(Object.fromEntries(COUNTS.map((name) => [name, 0])) as Record<(typeof COUNTS)[number], number>),
  deliveryTimes: [],
  verificationTimes: [],
  prices: {},
});

/** Adds the counts of other sends to `counts`. */
export function addCounts(counts: SendCounts, others: SendCounts): void {
  for (const name of COUNTS) counts[name] += others[name];
  addTimes(counts.deliveryTimes, others.deliveryTimes);
  addTimes(counts.verificationTimes, others.verificationTimes);
  for (const [price, messages] of Object.entries(others.prices))
    counts.prices[price] = (counts.prices[price] ?? 0) + messages;
}

function addTimes(times: number[], others: readonly number[]): void {
  while (times.length < others.length) times.push(0);
  // A year has many of them: an iterator would take three times as long.
  for (let bucket = 0; bucket < others.length; bucket++) times[bucket]! += others[bucket]!;
}

/** The time in seconds within which this share (0 to 1) was over, to within 9%; null where there was none. */
export function secondsWithin(share: number, times: readonly number[]): number | null {
  const place = share * times.reduce((sum, count) => sum + count, 0);
  let before = 0;
  for (const [bucket, count] of times.entries()) {
    if (count > 0 && before + count >= place) {
      const begin = TIME_BOUNDS[bucket - 1] ?? 0;
      const end = TIME_BOUNDS[bucket] ?? begin;
      return begin + ((end - begin) * (place - before)) / count;
    }
    before += count;
  }
  return null;
}
