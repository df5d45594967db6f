import { useUrlFilters } from '../../hooks/urlFilters.js';

export const PERIODS = ['day', 'week', 'month'] as const;
type Period = (typeof PERIODS)[number];
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

/** The length of each period in days. */
export const DAYS = { day: 1, week: 7, month: 30 } as const;

/** The filters of the overview, as the URL of the page holds them; null is left out. */
export interface OverviewQuery {
  period: Period;
  mode: Mode | null;
  application: string | null;
  locale: string | null;
}

/** Reads the filters from the URL and changes them. */
export function useOverviewQuery() {
  const { filters, set } = useUrlFilters();
  const query: OverviewQuery = {
    period: PERIODS.find((one) => one === filters.get('period')) ?? 'week',
    mode: MODES.find((one) => one === filters.get('mode')) ?? null,
    application: filters.get('application'),
    locale: filters.get('locale'),
  };
  return { query, set: (change: Partial<Record<keyof OverviewQuery, string | null>>) => set(change) };
}

/** The path of the overview below `/api`: whole hours, or whole days in the user's time zone, up to now. */
export function overviewPath(
  accountPath: string,
  { period, application, locale }: OverviewQuery,
  mode: Mode,
): string {
  const { from, to, bucket } = timesOf(period, new Date());
  const params = new URLSearchParams({
    from: from.toISOString(),
    to: to.toISOString(),
    bucket,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    mode,
    ...(application !== null && { application }),
    ...(locale !== null && { locale }),
  });
  return `${accountPath}/overview?${params}`;
}

function timesOf(period: Period, now: Date): { from: Date; to: Date; bucket: 'hour' | 'day' } {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  if (period === 'day') {
    const hour = new Date(year, month, day, now.getHours() + 1).getTime();
    return { from: new Date(hour - 86_400_000), to: new Date(hour), bucket: 'hour' };
  }
  return {
    from: new Date(year, month, day + 1 - DAYS[period]),
    to: new Date(year, month, day + 1),
    bucket: 'day',
  };
}
