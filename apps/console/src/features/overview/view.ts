import type { Mode } from '@onecode/domain';
import type { DenialCount, Overview, SendStatistics } from '@onecode/store/reports';
import type { CsvColumns } from '../../http/csv.js';
import type { Json } from '../../http/json.js';

/** Counts and shares of some sends. Shares lie between 0 and 1, and are null without any send. */
export type StatisticsView = SendStatistics;

export type OverviewView = Json<Overview> & {
  /** The mode of the counted sends. */
  mode: Mode;
  /** The totals of the same part of the previous period. */
  previous: StatisticsView;
  /** The number of people who reported that they did not request a code, by application and country, most first. */
  denials: DenialCount[];
};

interface OverviewRow extends Partial<SendStatistics> {
  by: string;
  value?: string | Date;
  name?: string;
}

export const OVERVIEW_COLUMNS: CsvColumns<OverviewRow> = {
  by: ({ by }) => by,
  value: ({ value }) => value ?? null,
  name: ({ name }) => name ?? null,
  sends: ({ sends }) => sends ?? null,
  delivered: ({ delivered }) => delivered ?? null,
  verified: ({ verified }) => verified ?? null,
  failed: ({ failed }) => failed ?? null,
  undelivered: ({ undelivered }) => undelivered ?? null,
  delivery_seconds_median: (row) => row.deliverySecondsMedian ?? null,
  delivery_seconds_p95: (row) => row.deliverySecondsP95 ?? null,
};

/** The overview in the download. */
export const overviewRows = (overview: Overview): OverviewRow[] => [
  { ...overview.totals, by: 'total' },
  ...overview.series.map((of) => ({ ...of, by: 'start', value: of.start })),
  ...overview.applications.map((of) => ({ ...of, by: 'application', value: of.applicationId })),
  ...overview.countries.map((of) => ({ ...of, by: 'country', value: of.country })),
  ...overview.locales.map((of) => ({ ...of, by: 'locale', value: of.locale })),
  {
    by: 'failed_but_verified',
    sends: overview.failedVerified,
    verified: overview.failedVerified,
    failed: overview.failedVerified,
  },
  ...overview.failures.map(({ reason, sends }) => ({
    by: 'failure_reason',
    value: reason,
    sends,
    delivered: 0,
    failed: sends,
  })),
];
