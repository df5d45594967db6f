import type { Locale, Mode } from '@onecode/domain';
import type { DenialCount, Overview, SendStatistics } from '@onecode/store';

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
  /** People who said that they did not request a code, by application and country, most first. */
  denials: DenialView[];
}

export type DenialView = DenialCount;

export function overviewView({ series, ...rest }: Overview, denials: readonly DenialCount[]): OverviewView {
  return {
    ...rest,
    series: series.map((one) => ({ ...one, start: one.start.toISOString() })),
    denials: [...denials],
  };
}
