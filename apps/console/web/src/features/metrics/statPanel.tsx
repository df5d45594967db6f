import { AreaChart } from '@mantine/charts';
import { Box, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { PanelDescription } from '../../../../src/features/metrics/view.js';
import { useDashboardText } from './dashboardTexts.js';
import type { PanelProps } from './panel.js';
import { namedSeries } from './series.js';
import { useUnit } from './units.js';

/** Text and line of each colour of the file, readable on both backgrounds. */
const COLORS = {
  green: 'teal',
  yellow: 'yellow',
  orange: 'orange',
  red: 'red',
  blue: 'blue',
} as const;

/** The last value of each series, coloured by the thresholds that it has passed, over its course. */
export function StatPanel({ panel, data }: PanelProps) {
  const { t } = useTranslation('metrics');
  const write = useUnit(panel.unit);
  const text = useDashboardText();
  return (
    <Stack gap="sm" flex={1}>
      {namedSeries(panel, data, text).map(({ key, name, values, last }) => {
        const color = last === null ? 'gray' : COLORS[colorOf(panel, last)];
        return (
          <Stack key={key} gap={4} flex={1} justify="space-between">
            <Group gap="xs" align="baseline">
              <Text
                fz={28}
                lh={1.2}
                fw={650}
                c={`light-dark(var(--mantine-color-${color}-9), var(--mantine-color-${color}-4))`}
                className="tabular"
              >
                {last === null ? t('none.title') : write(last)}
              </Text>
              {name !== '' && (
                <Text size="sm" c="dimmed">
                  {name}
                </Text>
              )}
            </Group>
            <Box aria-hidden>
              <AreaChart
                h={48}
                data={values.map((value, at) => ({ at, value }))}
                dataKey="at"
                series={[{ name: 'value', color: `${color}.6` }]}
                curveType="linear"
                strokeWidth={1.5}
                fillOpacity={0.15}
                withXAxis={false}
                withYAxis={false}
                withDots={false}
                withTooltip={false}
                gridAxis="none"
                yAxisProps={{ domain: [panel.min ?? 'auto', panel.max ?? 'auto'] }}
                areaProps={{ isAnimationActive: false }}
                areaChartProps={{ accessibilityLayer: false }}
              />
            </Box>
          </Stack>
        );
      })}
    </Stack>
  );
}

function colorOf({ thresholds }: PanelDescription, value: number): keyof typeof COLORS {
  return thresholds.findLast(({ from }) => from === null || value >= from)?.color ?? 'green';
}
