import type { RefusalReasonView } from '../../../../src/features/refusedRequests/view.js';
import { useUrlFilters } from '../../hooks/urlFilters.js';

/** Periods that end now, in hours. The longest is how long refused requests are kept. */
export const PERIODS = { hour: 1, day: 24, week: 168, all: 336 } as const;
export type Period = keyof typeof PERIODS;

const NAMES = ['application', 'period', 'code', 'detail', 'fields'] as const;

/** The filters of the page as its URL holds them. `code`, `detail` and `fields` are the API's reason. */
export type RefusedRequestQuery = Partial<Record<(typeof NAMES)[number], string>>;

/** Reads the filters from the URL and changes them. An empty text is a valid filter: a reason may have no fields. */
export function useRefusedRequestQuery() {
  const { filters, set } = useUrlFilters();
  const query: RefusedRequestQuery = Object.fromEntries(
    NAMES.flatMap((name) => (filters.has(name) ? [[name, filters.get(name)]] : [])),
  );
  return { query, set };
}

export const reasonQuery = ({
  code,
  detail,
  fields,
}: Pick<RefusalReasonView, 'code' | 'detail' | 'fields'>) => ({
  code,
  detail,
  fields: fields.join(','),
});

export const isPeriod = (period: string | undefined): period is Period =>
  period !== undefined && Object.hasOwn(PERIODS, period);

export const serverQuery = ({ period, fields, ...rest }: RefusedRequestQuery): object => ({
  ...rest,
  hours: PERIODS[isPeriod(period) ? period : 'all'],
  ...(fields !== undefined && { fields: fields.split(',').filter(Boolean) }),
});

/** The filters of the download, which has every reason. */
export const downloadQuery = ({ application, period }: RefusedRequestQuery): string =>
  new URLSearchParams({
    hours: String(PERIODS[isPeriod(period) ? period : 'all']),
    ...(application !== undefined && { application }),
  }).toString();
