/** The runtime does not know a time zone of this name. */
export class UnknownTimeZone extends Error {}

const BUCKET_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** Formats that name each local hour or day. When clocks are set back, two hours have the same name and differ only in their offset. */
const FORMATS: Readonly<Record<keyof typeof BUCKET_MS, Intl.DateTimeFormatOptions>> = {
  hour: { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', timeZoneName: 'longOffset' },
  day: { year: 'numeric', month: 'numeric', day: 'numeric' },
};

/**
 * Returns when the local hours or days of a period start: the first at or before `from`, the last before `to`. A day of a clock change has
 * 23 or 25 hours, and a day that a zone skipped is omitted.
 *
 * @param timeZone an IANA name, including legacy ones such as `Asia/Calcutta`
 * @throws UnknownTimeZone
 */
export function bucketStarts(
  bucket: keyof typeof BUCKET_MS,
  { from, to }: { from: Date; to: Date },
  timeZone: string,
): Date[] {
  const format = createFormat(FORMATS[bucket], timeZone);
  const nameAt = (time: number): string => format.format(time);
  const usualMs = BUCKET_MS[bucket];
  const nextStart = (start: number): number => {
    const name = nameAt(start);
    const usual = start + usualMs;
    if (nameAt(usual) !== name && nameAt(usual - 1) === name) return usual;
    return firstTime(start, start + 2 * usualMs, (time) => nameAt(time) !== name);
  };
  const first = nameAt(from.getTime());
  let start = firstTime(from.getTime() - 2 * usualMs, from.getTime(), (time) => nameAt(time) === first);
  const starts: Date[] = [];
  for (; start < to.getTime(); start = nextStart(start)) starts.push(new Date(start));
  return starts;
}

function createFormat(options: Intl.DateTimeFormatOptions, timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en', { ...options, timeZone });
  } catch {
    throw new UnknownTimeZone(`unknown time zone: ${timeZone}`);
  }
}

/** Returns the first millisecond after `before`, up to `at`, for which `hasCome` is true. It is false for `before` and true for `at`. */
function firstTime(before: number, at: number, hasCome: (time: number) => boolean): number {
  while (at - before > 1) {
    const middle = Math.floor((before + at) / 2);
    if (hasCome(middle)) at = middle;
    else before = middle;
  }
  return at;
}
