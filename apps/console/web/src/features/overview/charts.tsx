import { Table, VisuallyHidden } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import type { OverviewView } from '../../../../src/features/overview/view.js';
import { Chart } from '../../components/chart.js';
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
  const count = (value: number | null): string => whole(value ?? 0);
  const startText = useStartLabel(isHourly);
  const labels = series.map(({ start }) => startText(start));
  const parts = [
    {
      label: t('statistics.delivered'),
      color: 'brand-6',
      values: series.map(({ delivered }) => delivered),
    },
    {
      label: t('statistics.other'),
      color: 'gray-5',
      values: series.map(({ sends, delivered, failed }) => Math.max(0, sends - delivered - failed)),
    },
    { label: t('statistics.failed'), color: 'red-6', values: series.map(({ failed }) => failed) },
  ];
  return (
    <Section title={t('charts.outcomes')} description={t('charts.outcomesText')}>
      <Chart kind="bars" height={HEIGHT} labels={labels} series={parts} format={count} />
      <ChartTable caption={t('charts.outcomes')} labels={labels} series={parts} format={count} />
    </Section>
  );
}

/** Delivery times per hour or day. */
export function DeliveryTimes({ series, isHourly }: ChartProps) {
  const { t } = useTranslation('overview');
  const { seconds } = useShares();
  const startText = useStartLabel(isHourly);
  const labels = series.map(({ start }) => startText(start));
  const lines = [
    {
      label: t('charts.median'),
      color: 'brand-6',
      values: series.map(({ deliverySecondsMedian }) => deliverySecondsMedian),
    },
    {
      label: t('charts.p95'),
      color: 'orange-6',
      values: series.map(({ deliverySecondsP95 }) => deliverySecondsP95),
    },
  ];
  return (
    <Section title={t('charts.times')} description={t('charts.timesText')}>
      <Chart kind="lines" height={HEIGHT} labels={labels} series={lines} format={seconds} />
      <ChartTable caption={t('charts.times')} labels={labels} series={lines} format={seconds} />
    </Section>
  );
}

/** The data of a chart as a table for screen readers. */
function ChartTable({
  caption,
  labels,
  series,
  format,
}: Pick<ComponentProps<typeof Chart>, 'labels' | 'series' | 'format'> & { caption: string }) {
  const { t } = useTranslation('overview');
  return (
    <VisuallyHidden>
      <Table>
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {[t('charts.time'), ...series.map(({ label }) => label)].map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {labels.map((start, index) => (
            <Table.Tr key={start}>
              <Table.Th scope="row">{start}</Table.Th>
              {series.map(({ label, values }) => (
                <Table.Td key={label}>{format(values[index] ?? null)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </VisuallyHidden>
  );
}
