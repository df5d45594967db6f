import { useUrlFilters } from '../../hooks/urlFilters.js';
import { midnight, MODES, type Mode } from '../sends/sendQuery.js';

export const PERIODS = ['day', 'week', 'month', 'custom'] as const;
type Period = (typeof PERIODS)[number];

/** The length of each period in days. */
const DAYS = { week: 7, month: 30 } as const;
export const DAY_MS = 86_400_000;
export const CUSTOM_DAYS_MAX = 366;
/** A custom period of up to this many days has a point for each hour. An older one does not, because its sends may have been deleted. */
const HOURLY_DAYS_MAX = 2;
const HOURLY_AGE_DAYS_MAX = 8;

/** The filters of the overview, as the URL of the page holds them; null is left out. */
export interface OverviewQuery {
  period: Period;
  mode: Mode | null;
  application: string | null;
  locale: string | null;
  /** First and last day of a custom period, as `2026-11-20`. */
  from: string | null;
  to: string | null;
}

export function useOverviewQuery() {
  const { filters, set } = useUrlFilters();
  const query: OverviewQuery = {
    period: PERIODS.find((one) => one === filters.get('period')) ?? 'week',
    mode: MODES.find((one) => one === filters.get('mode')) ?? null,
    application: filters.get('application'),
    locale: filters.get('locale'),
    from: filters.get('from'),
    to: filters.get('to'),
  };
  return { query, set: (change: Partial<Record<keyof OverviewQuery, string | null>>) => set(change) };
}

/** The time span of an overview: whole hours, or whole days in the user's time zone. */
interface Span {
  from: Date;
  to: Date;
  bucket: 'hour' | 'day';
}

/** The span of the period; null for a custom period that is invalid or too long. */
export function spanOf({ period, ...query }: OverviewQuery, now = new Date()): Span | null {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  if (period === 'day') {
    const hour = new Date(year, month, day, now.getHours() + 1).getTime();
    return { from: new Date(hour - DAY_MS), to: new Date(hour), bucket: 'hour' };
  }
  if (period !== 'custom')
    return {
      from: new Date(year, month, day + 1 - DAYS[period]),
      to: new Date(year, month, day + 1),
      bucket: 'day',
    };
  const [from, to] = [midnight(query.from, 0), midnight(query.to, 1)];
  if (from === null || to === null) return null;
  const days = Math.round((to.getTime() - from.getTime()) / DAY_MS);
  if (days < 1 || days > CUSTOM_DAYS_MAX) return null;
  const isHourly = days <= HOURLY_DAYS_MAX && now.getTime() - from.getTime() < HOURLY_AGE_DAYS_MAX * DAY_MS;
  return { from, to, bucket: isHourly ? 'hour' : 'day' };
}

export const serverQuery = (
  { from, to, bucket }: Span,
  { mode, application, locale }: OverviewQuery,
): string =>
  new URLSearchParams({
    from: from.toISOString(),
    to: to.toISOString(),
    bucket,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...(mode !== null && { mode }),
    ...(application !== null && { application }),
    ...(locale !== null && { locale }),
  }).toString();

const TIMES = { day: '24h', week: '7d', month: '30d', custom: 'custom' } as const;

/** Returns the URL of the list of the counted sends, with additional filters. @param list the path of the list */
export function sendsLink(
  list: string,
  { period, from, to, application, locale }: OverviewQuery,
  mode: Mode,
  filter: Readonly<Record<string, string>> = {},
): string {
  const given = { mode, time: TIMES[period], application, locale, ...(period === 'custom' && { from, to }) };
  const params = Object.entries({ ...given, ...filter }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return `${list}?${new URLSearchParams(params).toString()}`;
}
