import type { ApplicationView } from '../../../../src/features/applications/view.js';
import { useUrlFilters } from '../../hooks/urlFilters.js';

export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];
export const TIMES = ['24h', 'today', '7d', '30d', 'custom'] as const;
type TimeChoice = (typeof TIMES)[number];

/** The filters of the list of sends, except the mode, as the URL of the page holds them. A phone number never appears there. */
const NAMES = [
  'status',
  'reason',
  'verification',
  'application',
  'country',
  'locale',
  'time',
  // First and last day of a custom range, as `2026-11-20`.
  'from',
  'to',
] as const;

export type SendQuery = Record<(typeof NAMES)[number], string | null> & { mode: Mode | null };

export function useSendQuery() {
  const { filters, set } = useUrlFilters();
  const query = Object.fromEntries(NAMES.map((name) => [name, filters.get(name)])) as SendQuery;
  query.mode = MODES.find((one) => one === filters.get('mode')) ?? null;
  return {
    query,
    isFiltered: NAMES.some((name) => filters.has(name)),
    set: (change: Partial<Record<keyof SendQuery, string | null>>) => set(change),
    clear: () => set(Object.fromEntries(NAMES.map((name) => [name, null]))),
  };
}

/** The default mode if the URL has none: test, if there is no live application. */
export const modeOf = (applications: readonly Pick<ApplicationView, 'mode'>[]): Mode =>
  applications.some(({ mode }) => mode === 'live') ? 'live' : 'test';

/** The query of the list on the server. Days begin at midnight in the user's time zone. */
export function serverQuery({ time, from, to, ...rest }: SendQuery, mode: Mode): string {
  const params = new URLSearchParams({ mode });
  for (const [name, value] of Object.entries(rest)) if (value !== null) params.set(name, value);
  const choice = TIMES.find((one) => one === time);
  const [start, end] =
    choice === 'custom'
      ? [midnight(from, 0), midnight(to, 1)]
      : [choice && beginOf(choice, new Date()), null];
  if (start) params.set('from', start.toISOString());
  if (end) params.set('to', end.toISOString());
  return params.toString();
}

/** The midnight that begins a day (`2026-11-20`), or one some days later; null for an invalid day. */
export function midnight(day: string | null, daysLater: number): Date | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '');
  if (parts === null) return null;
  const [year = 0, month = 1, date = 1] = parts.slice(1).map(Number);
  // Date reads the 31st of February as the 3rd of March.
  if (new Date(year, month - 1, date).getMonth() !== month - 1) return null;
  return new Date(year, month - 1, date + daysLater);
}

const DAYS = { today: 0, '7d': 6, '30d': 29 } as const;

/** Starts like the overview's periods: at a whole hour of yesterday, or at midnight. */
function beginOf(time: Exclude<TimeChoice, 'custom'>, now: Date): Date {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()];
  return time === '24h'
    ? new Date(year, month, day - 1, now.getHours() + 1)
    : new Date(year, month, day - DAYS[time]);
}
