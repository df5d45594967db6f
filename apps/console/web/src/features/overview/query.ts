import { useSearchParams } from 'react-router';

export const PERIODS = ['day', 'week', 'month'] as const;
type Period = (typeof PERIODS)[number];
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

/** How many days each is long. */
export const DAYS = { day: 1, week: 7, month: 30 } as const;

/** What the overview is of, as it stands in the page's address; null is left out there. */
export interface OverviewQuery {
  period: Period;
  mode: Mode | null;
  application: string | null;
  locale: string | null;
}

/** What is asked for in the address, and how to change it. */
export function useOverviewQuery(): {
  query: OverviewQuery;
  set: (change: Partial<Record<keyof OverviewQuery, string | null>>) => void;
} {
  const [params, setParams] = useSearchParams();
  return {
    query: {
      period: PERIODS.find((one) => one === params.get('period')) ?? 'week',
      mode: MODES.find((one) => one === params.get('mode')) ?? null,
      application: params.get('application'),
      locale: params.get('locale'),
    },
    set: (change) =>
      setParams(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(change))
            if (value === null) after.delete(name);
            else after.set(name, value);
          return after;
        },
        { replace: true },
      ),
  };
}

/** The overview's address on the server: whole hours, or whole days of the reader's, up to now. */
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
