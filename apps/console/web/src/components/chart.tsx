import { Box, ColorSwatch, Group, Paper, Text } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type PointerEvent, useState } from 'react';

/** One colour of a chart, with a value at each label, or null. */
interface ChartSeries {
  label: string;
  /** A colour of the theme with its shade, such as `red-6`. */
  color: string;
  values: readonly (number | null)[];
}

interface ChartProps {
  /** Bars are stacked; a line skips labels without a value. */
  kind: 'bars' | 'lines';
  /** In pixels, without the legend. */
  height: number;
  labels: readonly string[];
  series: readonly ChartSeries[];
  format: (value: number | null) => string;
  /** Formats the axis, if its format differs from the values. */
  formatTick?: (value: number) => string;
}

const [TOP, BOTTOM, BAR_WIDTH_MAX] = [8, 24, 40];
const colorOf = (color: string): string => `var(--mantine-color-${color})`;

/** A chart with a legend that shows the values at the pointer. Screen readers need the same values as text. */
export function Chart({ kind, height, labels, series, format, formatTick = format }: ChartProps) {
  const { ref, width } = useElementSize();
  const [pointed, setPointed] = useState<number | null>(null);
  const ticks = ticksOf(kind, series);
  const left = 12 + 7 * Math.max(...ticks.map((tick) => formatTick(tick).length));
  const band = Math.max(0, width - left) / Math.max(1, labels.length);
  const x = (index: number): number => left + (index + 0.5) * band;
  const y = (value: number): number => height - BOTTOM - (value / ticks.at(-1)!) * (height - TOP - BOTTOM);
  const point = ({ nativeEvent }: PointerEvent): void => {
    const index = Math.floor((nativeEvent.offsetX - left) / band);
    setPointed(index >= 0 && index < labels.length ? index : null);
  };
  const labelWidth = 8 + 7 * Math.max(0, ...labels.map((label) => label.length));
  const labelEvery = Math.ceil(labelWidth / Math.max(1, band));
  return (
    <Box ref={ref} pos="relative" aria-hidden>
      <Group justify="flex-end" gap="md" mb="xs">
        {series.map((one) => (
          <Named key={one.label} {...one} />
        ))}
      </Group>
      <svg
        width="100%"
        height={height}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
        fontSize={12}
        fill={colorOf('dimmed')}
      >
        {/* Without a width, all elements would have the same position, and positions are their keys. */}
        {width > 0 && (
          <>
            {ticks.map((tick) => (
              <g key={tick}>
                <line x1={left} x2={width} y1={y(tick)} y2={y(tick)} stroke={colorOf('default-border')} />
                <text x={left - 8} y={y(tick)} textAnchor="end" dominantBaseline="middle">
                  {formatTick(tick)}
                </text>
              </g>
            ))}
            {labels.map(
              (label, index) =>
                index % labelEvery === 0 && (
                  <text
                    key={x(index)}
                    // The first and the last label stay within the chart.
                    x={Math.max(labelWidth / 2, Math.min(x(index), width - labelWidth / 2))}
                    y={height - 6}
                    textAnchor="middle"
                  >
                    {label}
                  </text>
                ),
            )}
            {pointed !== null && (
              <rect
                x={x(pointed) - band / 2}
                width={band}
                y={TOP}
                height={height - TOP - BOTTOM}
                opacity={0.12}
              />
            )}
            {kind === 'bars' ? (
              <Bars series={series} width={Math.min(BAR_WIDTH_MAX, band * 0.8)} x={x} y={y} />
            ) : (
              series.map((one) => <Line key={one.label} series={one} x={x} y={y} />)
            )}
          </>
        )}
      </svg>
      {pointed !== null && (
        <Paper
          withBorder
          shadow="md"
          p="xs"
          pos="absolute"
          top={TOP}
          // The values are next to the pointer, on the side with room.
          {...(x(pointed) < width / 2
            ? { left: x(pointed) + band / 2 }
            : { right: width - x(pointed) + band / 2 })}
          style={{ pointerEvents: 'none', zIndex: 1 }}
        >
          <Text fw={600}>{labels[pointed]}</Text>
          {series.map(({ values, ...one }) => (
            <Group key={one.label} justify="space-between" gap="lg" wrap="nowrap">
              <Named {...one} />
              <Text>{format(values[pointed] ?? null)}</Text>
            </Group>
          ))}
        </Paper>
      )}
    </Box>
  );
}

function Named({ label, color }: Pick<ChartSeries, 'label' | 'color'>) {
  return (
    <Group gap={6} wrap="nowrap">
      <ColorSwatch color={colorOf(color)} size={10} withShadow={false} />
      <Text>{label}</Text>
    </Group>
  );
}

interface Place {
  x: (index: number) => number;
  y: (value: number) => number;
}

function Bars({ series, width, x, y }: Place & { series: readonly ChartSeries[]; width: number }) {
  return series.map(({ label, color, values }, at) => (
    <g key={label} fill={colorOf(color)}>
      {values.map((value, index) => {
        const below = sumAt(series.slice(0, at), index);
        const height = y(below) - y(below + (value ?? 0));
        return (
          <rect key={x(index)} x={x(index) - width / 2} y={y(below) - height} width={width} height={height} />
        );
      })}
    </g>
  ));
}

function Line({ series: { color, values }, x, y }: Place & { series: ChartSeries }) {
  const points = values.flatMap((value, index) => (value === null ? [] : [[x(index), y(value)] as const]));
  return (
    <g fill={colorOf(color)}>
      <polyline points={points.join(' ')} fill="none" stroke={colorOf(color)} strokeWidth={2} />
      {points.map(([cx, cy]) => (
        <circle key={cx} cx={cx} cy={cy} r={3} />
      ))}
    </g>
  );
}

const sumAt = (series: readonly ChartSeries[], index: number): number =>
  series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);

/** Returns about five round values, from zero to the top of the chart or above it. */
function ticksOf(kind: ChartProps['kind'], series: readonly ChartSeries[]): number[] {
  const tops = kind === 'bars' ? (series[0]?.values ?? []).map((_, index) => sumAt(series, index)) : [];
  const top = Math.max(0, ...tops, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const rough = top / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  // Bars show counts, which are whole numbers.
  const step = Math.max(
    kind === 'bars' ? 1 : 0,
    [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 1,
  );
  return Array.from({ length: Math.max(1, Math.ceil(top / step)) + 1 }, (_, index) => index * step);
}
