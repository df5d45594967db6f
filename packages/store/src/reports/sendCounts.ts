/** Seconds between the buckets of times, each 9% longer than the previous one. The first bucket starts at 0, the last one has no end. */
export const TIME_BOUNDS: readonly number[] = Array.from({ length: 105 }, (_, n) => 2 ** (n / 8));

/** Adds the counts of other sends, or of their times by bucket, to `counts`, element by element. */
export function addCounts(counts: number[], others: readonly number[]): void {
  while (counts.length < others.length) counts.push(0);
  // A year has many of them: an iterator would take three times as long.
  for (let place = 0; place < others.length; place++) counts[place]! += others[place]!;
}

/** Returns how many times are in each bucket. @param buckets the bucket of each time */
export function countTimes(buckets: readonly number[]): number[] {
  const times: number[] = [];
  for (const bucket of buckets) {
    while (times.length <= bucket) times.push(0);
    times[bucket]! += 1;
  }
  return times;
}

/** Returns the seconds within which this share (0 to 1) of the counted times lies, accurate to 9%; null without times. */
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
