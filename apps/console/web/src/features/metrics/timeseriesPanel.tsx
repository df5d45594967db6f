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
  const timeText = useTimeText(range);
  const series = useMemo(() => namedSeries(panel, data, text), [panel, data, text]);
  const rows = useMemo(() => {
    const { from, to, stepSeconds } = data.range;
    return Array.from({ length: (to - from) / stepSeconds + 1 }, (_, at) => ({
      at: timeText(from + at * stepSeconds),
      ...Object.fromEntries(series.map(({ key, values }) => [key, values[at] ?? null])),
    }));
  }, [data, series, timeText]);
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
          yAxisProps={{ domain: [panel.min ?? 'auto', panel.max ?? 'auto'], width: 58, tickCount: 4 }}
          xAxisProps={{ minTickGap: 28, interval: 'preserveStartEnd' }}
          areaProps={{ isAnimationActive: false }}
          areaChartProps={{ accessibilityLayer: false, margin: { right: 8 } }}
          tooltipAnimationDuration={0}
        />
      </Box>
      <Legend series={series} write={write} />
    </>
  );
}

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

/** Writes a time, in seconds since 1970, with its day where the range has several. */
function useTimeText(range: RangeName): (seconds: number) => string {
  const { language } = useTranslation().i18n;
  return useMemo(() => {
    const format = new Intl.DateTimeFormat(language, {
      hour: '2-digit',
      minute: '2-digit',
      hour12: false,
      ...(range === '7d' && { day: 'numeric', month: 'short' }),
      ...(range === '15m' && { second: '2-digit' }),
    });
    return (seconds) => format.format(seconds * 1_000);
  }, [language, range]);
}
