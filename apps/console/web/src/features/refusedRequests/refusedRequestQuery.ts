import { useSearchParams } from 'react-router';

/** Periods that end now, in hours. The longest is how long refused requests are kept. */
export const PERIODS = { hour: 1, day: 24, week: 168, all: 336 } as const;
export type Period = keyof typeof PERIODS;

/** What the API said: a code, and the sentence and the faulty fields that came with it. */
export interface Reason {
  code: string;
  detail: string;
  fields: string[];
}

const REASON_NAMES = ['code', 'detail', 'fields'] as const;
type Name = 'application' | 'period' | (typeof REASON_NAMES)[number];

/** The filters of the page, which its URL holds. */
export interface RefusedRequestQuery {
  application: string | null;
  period: Period;
  reason: Partial<Reason>;
}

/** Reads the filters from the URL and changes them. */
export function useRefusedRequestQuery(): {
  query: RefusedRequestQuery;
  set: (change: Partial<Record<Name, string | null>>) => void;
} {
  const [params, setParams] = useSearchParams();
  const period = (Object.keys(PERIODS) as Period[]).find((one) => one === params.get('period')) ?? 'all';
  const [code, detail, fields] = REASON_NAMES.map((name) => params.get(name));
  return {
    query: {
      application: params.get('application'),
      period,
      reason: {
        ...(code && { code }),
        ...(detail && { detail }),
        ...(fields != null && { fields: fields.split(',').filter(Boolean) }),
      },
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

/** A reason as the URL holds it; null for any. */
export const reasonParams = (reason: Reason | null): Partial<Record<Name, string | null>> => ({
  code: reason?.code ?? null,
  detail: reason?.detail ?? null,
  fields: reason?.fields.join(',') ?? null,
});

/** The filters as the server reads them. */
export const serverQuery = ({ application, period, reason }: RefusedRequestQuery): object => ({
  hours: PERIODS[period],
  ...(application !== null && { application }),
  ...reason,
});
