import { useUrlFilters } from '../../hooks/urlFilters.js';

export const TIMES = ['today', '7d', '30d', 'custom'] as const;
type TimeChoice = (typeof TIMES)[number];

/** The filters of the list of sends, as the URL of the page holds them. A phone number never appears there. */
export interface SendQuery {
  status: string | null;
  verification: string | null;
  application: string | null;
  mode: string | null;
  time: TimeChoice | null;
  /** First and last day of a custom range, as `2026-11-20`. */
  from: string | null;
  to: string | null;
}

const NAMES = ['status', 'verification', 'application', 'mode', 'time', 'from', 'to'] as const;

/** Reads the filters from the URL and changes them. */
export function useSendQuery() {
  const { filters, set } = useUrlFilters();
  const of = (name: keyof SendQuery): string | null => filters.get(name);
  const query: SendQuery = {
    status: of('status'),
    verification: of('verification'),
    application: of('application'),
    mode: of('mode'),
    time: TIMES.find((one) => one === of('time')) ?? null,
    from: of('from'),
    to: of('to'),
  };
  return {
    query,
    isFiltered: NAMES.some((name) => filters.has(name)),
    set: (change: Partial<Record<keyof SendQuery, string | null>>) => set(change),
    clear: () => set(Object.fromEntries(NAMES.map((name) => [name, null]))),
  };
}

/** The path of the list below `/api`. Days begin at midnight in the user's time zone. */
export function sendsPath(accountPath: string, { time, from, to, ...rest }: SendQuery): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(rest)) if (value !== null) params.set(name, value);
  const [start, end] =
    time === 'custom' ? [midnight(from, 0), midnight(to, 1)] : [time && daysAgo(time), null];
  if (start !== null) params.set('from', start.toISOString());
  if (end !== null) params.set('to', end.toISOString());
  const query = params.toString();
  return `${accountPath}/sends${query === '' ? '' : `?${query}`}`;
}

/** The midnight that begins a day (`2026-11-20`), or one some days later; null for what is no day. */
function midnight(day: string | null, daysLater: number): Date | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '');
  if (parts === null) return null;
  const [year = 0, month = 1, date = 1] = parts.slice(1).map(Number);
  return new Date(year, month - 1, date + daysLater);
}

function daysAgo(time: Exclude<TimeChoice, 'custom'>): Date {
  const today = new Date();
  const days = { today: 0, '7d': 6, '30d': 29 }[time];
  return new Date(today.getFullYear(), today.getMonth(), today.getDate() - days);
}
