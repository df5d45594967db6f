import { useSearchParams } from 'react-router';

/** Periods that end now, in hours. The longest is how long refused requests are kept. */
export const PERIODS = { hour: 1, day: 24, week: 168, all: 336 } as const;
export type Period = keyof typeof PERIODS;

/** The filters of the page, as its URL holds them. */
export interface RefusedRequestQuery {
  application: string | null;
  period: Period;
  /** The problem code whose requests are shown. */
  code: string | null;
}

/** Reads the filters from the URL and changes them. */
export function useRefusedRequestQuery(): {
  query: RefusedRequestQuery;
  set: (change: Partial<Record<keyof RefusedRequestQuery, string | null>>) => void;
} {
  const [params, setParams] = useSearchParams();
  const period = (Object.keys(PERIODS) as Period[]).find((one) => one === params.get('period')) ?? 'all';
  return {
    query: { application: params.get('application'), period, code: params.get('code') },
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

/** The filters as the server's query, without the code. */
export function serverQuery({ application, period }: RefusedRequestQuery): string {
  return new URLSearchParams({
    hours: String(PERIODS[period]),
    ...(application !== null && { application }),
  }).toString();
}
