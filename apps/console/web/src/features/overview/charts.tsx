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
  /** Hours are told by their time, days by their date. */
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

/** How many sends of each hour or day were delivered, failed, or neither. */
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
  const parts = [
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
          series={[...parts]}
          withLegend
          maxBarWidth={40}
          tickLine="none"
          yAxisProps={{ allowDecimals: false }}
          valueFormatter={whole}
          barChartProps={{ accessibilityLayer: false }}
        />
      </div>
      <Values
        caption={t('charts.outcomes')}
        columns={parts.map(({ label }) => label)}
        rows={data.map((row) => [row.start, ...parts.map(({ name }) => whole(row[name]))])}
      />
    </Section>
  );
}

/** How long deliveries of each hour or day took. */
export function DeliveryTimes({ series, isHourly }: ChartProps) {
  const { t } = useTranslation('overview');
  const { seconds } = useShares();
  const startText = useStartLabel(isHourly);
  const data = series.map(({ start, deliverySecondsMedian, deliverySecondsP95 }) => ({
    start: startText(start),
    median: deliverySecondsMedian,
    p95: deliverySecondsP95,
  }));
  const parts = [
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
          series={[...parts]}
          withLegend
          connectNulls
          curveType="monotone"
          tickLine="none"
          valueFormatter={seconds}
          lineChartProps={{ accessibilityLayer: false }}
        />
      </div>
      <Values
        caption={t('charts.times')}
        columns={parts.map(({ label }) => label)}
        rows={data.map((row) => [row.start, ...parts.map(({ name }) => seconds(row[name]))])}
      />
    </Section>
  );
}

/** The chart in words, for those who cannot see it. */
function Values({
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
