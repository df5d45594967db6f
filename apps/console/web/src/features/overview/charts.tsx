import { Table, VisuallyHidden } from '@mantine/core';
import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import type { OverviewView } from '../../../../src/features/overview/view.js';
import { Chart } from '../../components/chart.js';
import { useDurations, useNumbers } from '../../hooks/formats.js';
import { Section } from '../../components/page.js';
import { useShares } from './statistics.js';

const HEIGHT = 240;

/** Delivered, failed and unconfirmed sends, and delivery times, per hour or day. @param isHourly whether times name the points, or dates */
export function Charts({ series, isHourly }: Pick<OverviewView, 'series'> & { isHourly: boolean }) {
  const { t, i18n } = useTranslation('overview');
  const { whole } = useNumbers();
  const { seconds } = useShares();
  const { seconds: axisSeconds } = useDurations();
  // A day in which clocks are set back has 25 hours.
  const hour: Intl.DateTimeFormatOptions = {
    hour: 'numeric',
    minute: '2-digit',
    ...(series.length > 25 && { weekday: 'short' }),
  };
  const start = new Intl.DateTimeFormat(i18n.language, isHourly ? hour : { day: 'numeric', month: 'short' });
  const starts = series.map((point) => point.start);
  const labels = starts.map((at) => start.format(new Date(at)));
  return (
    <>
      <ChartSection
        name="outcomes"
        kind="bars"
        starts={starts}
        labels={labels}
        series={[
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
        ]}
        format={(value) => whole(value ?? 0)}
      />
      <ChartSection
        name="times"
        kind="lines"
        starts={starts}
        labels={labels}
        series={[
          {
            label: t('charts.median'),
            color: 'brand-6',
            values: series.map(({ deliverySecondsMedian }) => deliverySecondsMedian),
          },
          {
            label: t('statistics.p95'),
            color: 'orange-6',
            values: series.map(({ deliverySecondsP95 }) => deliverySecondsP95),
          },
        ]}
        format={seconds}
        formatTick={axisSeconds}
      />
    </>
  );
}

type ChartProps = Omit<ComponentProps<typeof Chart>, 'height'>;
/** When each label starts: two hours of a clock change have the same label. */
interface Starts {
  starts: readonly string[];
}

function ChartSection({ name, starts, ...chart }: ChartProps & Starts & { name: 'outcomes' | 'times' }) {
  const { t } = useTranslation('overview');
  return (
    <Section title={t(`charts.${name}`)} description={t(`charts.${name}Text`)}>
      <Chart height={HEIGHT} {...chart} />
      <ChartTable caption={t(`charts.${name}`)} starts={starts} {...chart} />
    </Section>
  );
}

/** The data of a chart as a table for screen readers. */
function ChartTable({ caption, starts, labels, series, format }: ChartProps & Starts & { caption: string }) {
  const { t } = useTranslation(['overview', 'common']);
  return (
    <VisuallyHidden>
      <Table>
        <Table.Caption>{caption}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            {[t('common:words.time'), ...series.map(({ label }) => label)].map((column) => (
              <Table.Th key={column}>{column}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {starts.map((start, index) => (
            <Table.Tr key={start}>
              <Table.Th scope="row">{labels[index]}</Table.Th>
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
