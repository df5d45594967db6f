import { BarChart, LineChart } from '@mantine/charts';
import { Table, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { OverviewView } from '../../../../src/features/overview/view.js';
import { useNumbers } from '../../hooks/formats.js';
import { Section } from '../../components/page.js';
import { useShares } from './statistics.js';

type Series = OverviewView['series'];

interface ChartProps {
  series: Series;
  /** Hourly points are labelled by time, daily ones by date. */
  isHourly: boolean;
}

const HEIGHT = 240;

function useStartLabel(isHourly: boolean): (start: string) => string {
  const { language } = useTranslation().i18n;
  const format = new Intl.DateTimeFormat(
    language,
    isHourly ? { hour: 'numeric', minute: '2-digit' } : { day: 'numeric', month: 'short' },
  );
  return (start) => format.format(new Date(start));
}

/** Delivered, failed and unconfirmed sends per hour or day. */
export function Outcomes({ series, isHourly }: ChartProps) {
  const { t } = useTranslation('overview');
  const { whole } = useNumbers();
  const startText = useStartLabel(isHourly);
  const data = series.map(({ start, sends, delivered, failed }) => ({
    start: startText(start),
    delivered,
    failed,
    other: Math.max(0, sends - delivered - failed),
  }));
  const lines = [
    { name: 'delivered', label: t('statistics.delivered'), color: 'brand.6' },
    { name: 'other', label: t('statistics.other'), color: 'gray.5' },
    { name: 'failed', label: t('statistics.failed'), color: 'red.6' },
  ] as const;
  return (
    <Section title={t('charts.outcomes')} description={t('charts.outcomesText')}>
      <div aria-hidden>
        <BarChart
          h={HEIGHT}
          data={data}
          dataKey="start"
          type="stacked"
          series={[...lines]}
          withLegend
          maxBarWidth={40}
          tickLine="none"
          yAxisProps={{ allowDecimals: false }}
          valueFormatter={whole}
          barChartProps={{ accessibilityLayer: false }}
        />
      </div>
      <ChartTable
        caption={t('charts.outcomes')}
        columns={lines.map(({ label }) => label)}
        rows={data.map((row) => [row.start, ...lines.map(({ name }) => whole(row[name]))])}
      />
    </Section>
  );
}

/** Delivery times per hour or day. */
export function DeliveryTimes({ series, isHourly }: ChartProps) {
  const { t } = useTranslation('overview');
  const { seconds } = useShares();
  const startText = useStartLabel(isHourly);
  const data = series.map(({ start, deliverySecondsMedian, deliverySecondsP95 }) => ({
    start: startText(start),
    median: deliverySecondsMedian,
    p95: deliverySecondsP95,
  }));
  const lines = [
    { name: 'median', label: t('charts.median'), color: 'brand.6' },
    { name: 'p95', label: t('charts.p95'), color: 'orange.6' },
  ] as const;
  return (
    <Section title={t('charts.times')} description={t('charts.timesText')}>
      <div aria-hidden>
        <LineChart
          h={HEIGHT}
          data={data}
          dataKey="start"
          series={[...lines]}
          withLegend
          connectNulls
          curveType="monotone"
          tickLine="none"
          valueFormatter={seconds}
          lineChartProps={{ accessibilityLayer: false }}
        />
      </div>
      <ChartTable
        caption={t('charts.times')}
        columns={lines.map(({ label }) => label)}
        rows={data.map((row) => [row.start, ...lines.map(({ name }) => seconds(row[name]))])}
      />
    </Section>
  );
}

/** The data of a chart as a table for screen readers. */
function ChartTable({
  caption,
  columns,
  rows,
}: {
  caption: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
}) {
  const { t } = useTranslation('overview');
  return (
    <VisuallyHidden>
      <Table>
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {[t('charts.time'), ...columns].map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(([start, ...values]) => (
            <Table.Tr key={start}>
              <Table.Th scope="row">{start}</Table.Th>
              {values.map((value, n) => (
                <Table.Td key={columns[n]}>{value}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </VisuallyHidden>
  );
}
