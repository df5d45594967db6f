import type { Mode } from '@onecode/domain';
import type { DenialCount, Overview, SendStatistics } from '@onecode/store';
import type { Json } from '../../http/json.js';

/** Counts and shares of some sends. Shares lie between 0 and 1, and are null without any send. */
export type StatisticsView = SendStatistics;

/** People who said that they did not request a code, by application and country, most first. */
export type DenialView = DenialCount;

export type OverviewView = Json<Overview> & {
  /** Of the sends that it counts. */
  mode: Mode;
  /** The totals of the period before, as far as this one has come. */
  previous: StatisticsView;
  denials: DenialView[];
};

export const OVERVIEW_COLUMNS = [
  'by',
  'value',
  'name',
  'sends',
  'delivered',
  'verified',
  'failed',
  'delivery_seconds_median',
  'delivery_seconds_p95',
];

/** The overview in the download, with `OVERVIEW_COLUMNS`. */
export function overviewRows({ totals, series, applications, locales, countries, failures }: Overview) {
  const row = (by: string, value: string | Date | null, name: string | null, of: SendStatistics) => [
    by,
    value,
    name,
    of.sends,
    of.delivered,
    of.verified,
    of.failed,
    of.deliverySecondsMedian,
    of.deliverySecondsP95,
  ];
  return [
    row('total', null, null, totals),
    ...series.map((of) => row('start', of.start, null, of)),
    ...applications.map((of) => row('application', of.applicationId, of.name, of)),
    ...countries.map((of) => row('country', of.country, null, of)),
    ...locales.map((of) => row('locale', of.locale, null, of)),
    ...failures.map(({ reason, sends }) => [
      'failure_reason',
      reason,
      null,
      sends,
      0,
      null,
      sends,
      null,
      null,
    ]),
  ];
}
