import type { Locale, Mode } from '@onecode/domain';
import type { Figures, Overview } from '@onecode/store';

/** What became of some sends; shares are 0 to 1, and null without any. */
export type FiguresView = Figures;

export interface OverviewView {
  /** Only one send in so many was looked at; null when all were. */
  sampled: number | null;
  totals: FiguresView;
  /** Each hour or day, without gaps. */
  series: (FiguresView & { start: string })[];
  /** Those with sends, most sends first. */
  applications: (FiguresView & { applicationId: string; name: string; mode: Mode })[];
  locales: (FiguresView & { locale: Locale })[];
}

export function overviewView({ series, ...rest }: Overview): OverviewView {
  return { ...rest, series: series.map((one) => ({ ...one, start: one.start.toISOString() })) };
}
