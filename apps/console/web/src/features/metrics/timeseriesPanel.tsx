import { AreaChart } from '@mantine/charts';
import { Box, ColorSwatch, Group, Text } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { RangeName } from '../../../../src/features/metrics/view.js';
import { useDashboardText } from './dashboardTexts.js';
import type { PanelProps } from './panel.js';
import { namedSeries, type NamedSeries } from './series.js';
import { useUnit } from './units.js';

const HEIGHT = 170;

/** Lines over time, and below them each line's name and last value, which are the chart's text as well. */
export function TimeseriesPanel({ panel, data, range }: PanelProps) {
  const write = useUnit(panel.unit);
  const text = useDashboardText();
  const { tick, full } = useTimeTexts(range);
  const series = useMemo(() => namedSeries(panel, data, text), [panel, data, text]);
  const rows = useMemo(() => {
    const { from, to, stepSeconds } = data.range;
    return Array.from({ length: (to - from) / stepSeconds + 1 }, (_, at) => ({
      at: from + at * stepSeconds,
      ...Object.fromEntries(series.map(({ key, values }) => [key, values[at] ?? null])),
    }));
  }, [data, series]);
  return (
    <>
      <Box aria-hidden>
        <AreaChart
          h={HEIGHT}
          data={rows}
          dataKey="at"
          type={panel.isStacked ? 'stacked' : 'default'}
          series={series
            .filter(({ last }) => last !== null)
            .map(({ key, name, color }) => ({ name: key, label: name, color }))}
          curveType="linear"
          strokeWidth={1.5}
          fillOpacity={panel.fillOpacity}
          withDots={false}
          tickLine="none"
          connectNulls
          valueFormatter={write}
          yAxisProps={{
            domain: [panel.min ?? 'auto', panel.max ?? 'auto'],
            width: 58,
            tickCount: 4,
            allowDecimals: !isCount(panel, series),
          }}
          xAxisProps={{
            type: 'number',
            domain: [data.range.from, data.range.to],
            ticks: ticksOf(data.range),
            tickFormatter: tick,
            interval: 0,
          }}
          tooltipProps={{ labelFormatter: (at) => (typeof at === 'number' ? full(at) : '') }}
          areaProps={{ isAnimationActive: false }}
          areaChartProps={{ accessibilityLayer: false, margin: { right: 18 } }}
          tooltipAnimationDuration={0}
        />
      </Box>
      <Legend series={series} write={write} />
    </>
  );
}

/** Whether all values are whole and of no unit: there is no half of a sender. */
const isCount = ({ unit }: PanelProps['panel'], series: readonly NamedSeries[]): boolean =>
  unit === 'short' &&
  series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)));

function Legend({ series, write }: { series: readonly NamedSeries[]; write: (value: number) => string }) {
  const { t } = useTranslation('metrics');
  return (
    <Group component="ul" gap="2px 12px" m={0} p={0} style={{ listStyle: 'none' }}>
      {series.map(({ key, name, color, last }) => (
        <Group component="li" key={key} gap={6} wrap="nowrap">
          <ColorSwatch
            size={10}
            withShadow={false}
            color={`var(--mantine-color-${color.replace('.', '-')})`}
            opacity={last === null ? 0.4 : 1}
            aria-hidden
          />
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {name}{' '}
            <Text
              span
              inherit
              fw={550}
              className="tabular"
              c={last === null ? 'dimmed' : 'var(--mantine-color-text)'}
            >
              {last === null ? t('none.short') : write(last)}
            </Text>
          </Text>
        </Group>
      ))}
    </Group>
  );
}

/** Writes times, in seconds since 1970: short ones for the axis, which has days where the range has several, and full ones. */
function useTimeTexts(range: RangeName): Record<'tick' | 'full', (seconds: number) => string> {
  const { language } = useTranslation().i18n;
  return useMemo(() => {
    const tick = new Intl.DateTimeFormat(
      language,
      range === '7d'
        ? { day: 'numeric', month: 'short' }
        : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    );
    const full = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
    return {
      tick: (seconds) => tick.format(seconds * 1_000),
      full: (seconds) => full.format(seconds * 1_000),
    };
  }, [language, range]);
}

/** Whole numbers of minutes between ticks. */
const TICK_MINUTES = [5, 15, 60, 120, 360, 1_440, 2_880];
const TICKS_MAX = 4;

/** A few times of the range, at round times of the clock. */
function ticksOf({ from, to }: PanelProps['data']['range']): number[] {
  const minutes = TICK_MINUTES.find((one) => (to - from) / 60 / one <= TICKS_MAX) ?? 2_880;
  // Clocks differ from UTC by whole quarters of an hour, and days begin at midnight here, also after the clocks were changed.
  const offset = offsetAt(from);
  const step = minutes * 60;
  const first = Math.ceil((from - offset) / step) * step;
  const ticks = Array.from(
    { length: Math.floor((to - offset - first) / step) + 1 },
    (_, at) => first + at * step,
  );
  return ticks.map((tick) => tick + offsetAt(tick + offset));
}

/** What a clock here was behind UTC at a time, all in seconds. */
const offsetAt = (seconds: number): number => new Date(seconds * 1_000).getTimezoneOffset() * 60;
