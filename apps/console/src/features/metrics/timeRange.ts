/** The time ranges that people choose from, in seconds. */
export const RANGES = { '15m': 900, '1h': 3_600, '6h': 21_600, '24h': 86_400, '7d': 604_800 } as const;

export type RangeName = keyof typeof RANGES;

/** The most points of a series. */
const POINTS_MAX = 241;
/** The interval of scrapes that Grafana assumes unless told otherwise; ours is at most that. */
const SCRAPE_SECONDS = 15;

/** A range of time that is asked for: its times are seconds since 1970. */
export interface TimeRange {
  from: number;
  to: number;
  stepSeconds: number;
}

/** The range that ends now, with points far enough apart that there are few of them. */
export function timeRange(name: RangeName, now: Date): TimeRange {
  const seconds = RANGES[name];
  const to = Math.floor(now.getTime() / 1_000);
  const stepSeconds = Math.max(SCRAPE_SECONDS, Math.ceil(seconds / (POINTS_MAX - 1)));
  return { from: to - Math.floor(seconds / stepSeconds) * stepSeconds, to, stepSeconds };
}

/** The number of points of a range. */
export const pointsIn = ({ from, to, stepSeconds }: TimeRange): number => (to - from) / stepSeconds + 1;

/** Grafana's variables, with the values that Grafana gives them. */
export const VARIABLES: Readonly<Record<string, (range: TimeRange) => string>> = {
  __interval: ({ stepSeconds }) => `${stepSeconds}s`,
  // At least four scrapes: a rate needs two of them, also when one failed.
  __rate_interval: ({ stepSeconds }) => `${Math.max(stepSeconds + SCRAPE_SECONDS, 4 * SCRAPE_SECONDS)}s`,
  __range: ({ from, to }) => `${to - from}s`,
};

/** `$name` or `${name}`; a `$` in a string is followed by no letter. */
const VARIABLE = /\$(?:\{(\w+)\}|([a-zA-Z_]\w*))/g;

/** The names of the variables in a query. */
export const variablesIn = (expr: string): string[] =>
  [...expr.matchAll(VARIABLE)].map(([, inBraces, bare]) => inBraces ?? bare ?? '');

/** The query with the values of its variables. */
export const fillVariables = (expr: string, range: TimeRange): string =>
  expr.replaceAll(VARIABLE, (text, inBraces?: string, bare?: string) => {
    return VARIABLES[inBraces ?? bare ?? '']?.(range) ?? text;
  });
