import type { Locale, Mode } from '@onecode/domain';
import type { SendStatistics, Overview } from '@onecode/store';

/** Counts and shares of some sends. Shares lie between 0 and 1, and are null without any send. */
export type StatisticsView = SendStatistics;

export interface OverviewView {
  /** One send in so many was counted; null when all were. */
  sampled: number | null;
  totals: StatisticsView;
  /** Every hour or day, without gaps. */
  series: (StatisticsView & { start: string })[];
  /** Applications with sends, most sends first. */
  applications: (StatisticsView & { applicationId: string; name: string; mode: Mode })[];
  locales: (StatisticsView & { locale: Locale })[];
}

export function overviewView({ series, ...rest }: Overview): OverviewView {
  return { ...rest, series: series.map((one) => ({ ...one, start: one.start.toISOString() })) };
}
