import type { Logger } from '@onecode/runtime';
import type { ConsoleConfig } from '../../config.js';
import { readDashboard, type Dashboard, type Panel, type Target } from './dashboard.js';
import {
  openPrometheus,
  PrometheusError,
  type Prometheus,
  type PrometheusFault,
  type PrometheusSeries,
} from './prometheus.js';
import { fillVariables, pointsIn, timeRange, type RangeName, type TimeRange } from './timeRange.js';

/** How long people share what was read. The page asks every 30 seconds. */
const SHARED_MS = 15_000;
const FAULT_SHARED_MS = 5_000;
/** With one more query that is under way, less than the ten seconds that a stop may take. */
const PANEL_MS_MAX = 5_000;
/** Most series of a panel: more than a person tells apart. */
const SERIES_MAX = 40;
const ROWS_MAX = 100;

/** A series of a panel, by the target that it is of. */
interface PanelSeries {
  refId: string;
  labels: Readonly<Record<string, string>>;
  /** One for each point of the range, oldest first; one alone in a table. Null where there is none, or no finite one. */
  values: (number | null)[];
}

/** What a panel shows. */
export interface PanelData {
  range: TimeRange;
  series: PanelSeries[];
  /** How many series were left out. */
  omitted: number;
  /** Metrics of which Prometheus has no series now, where the panel has nothing to show. */
  absent: string[];
}

export type PanelReading = { state: 'ok'; data: PanelData } | { state: PrometheusFault };

/** The dashboard, and the data of its panels where there is a Prometheus. */
export interface Metrics {
  dashboard: Dashboard;
  /** Null without a Prometheus. */
  readPanel: ((panel: Panel, range: RangeName) => Promise<PanelReading>) | null;
}

/** Reads the dashboard's file, and opens the Prometheus that operators named. @throws Error for a file that cannot be drawn */
export function createMetrics({ config, log }: { config: ConsoleConfig; log: Logger }): Metrics {
  const dashboard = readDashboard();
  if (config.PROMETHEUS_URL === '') return { dashboard, readPanel: null };
  const prometheus = openPrometheus(config.PROMETHEUS_URL, (fault) => {
    if (fault === null) log.warn('the Metrics page gets data from Prometheus again');
    else log.warn({ fault }, 'the Metrics page gets no data from Prometheus');
  });
  return { dashboard, readPanel: createPanelReader(prometheus) };
}

/**
 * Returns a function that reads a panel. People who watch the same panel share the answer, and while one is outstanding nothing more is
 * asked: their number costs Prometheus nothing.
 */
function createPanelReader(prometheus: Prometheus): NonNullable<Metrics['readPanel']> {
  // Bounded by the panels of the file and the ranges.
  const readings = new Map<string, { value: Promise<PanelReading>; freshUntil: number }>();
  return (panel, rangeName) => {
    const key = `${panel.id} ${rangeName}`;
    const known = readings.get(key);
    if (known !== undefined && performance.now() < known.freshUntil) return known.value;
    const value = read(prometheus, panel, rangeName).then((reading) => {
      entry.freshUntil = performance.now() + (reading.state === 'ok' ? SHARED_MS : FAULT_SHARED_MS);
      return reading;
    });
    const entry = { value, freshUntil: Infinity };
    readings.set(key, entry);
    return value;
  };
}

async function read(prometheus: Prometheus, panel: Panel, rangeName: RangeName): Promise<PanelReading> {
  const range = timeRange(rangeName, new Date());
  const signal = AbortSignal.timeout(PANEL_MS_MAX);
  const ask = async (target: Target): Promise<PanelSeries[]> => {
    const expr = fillVariables(target.expr, range);
    const found = await (panel.kind === 'table'
      ? prometheus.query(expr, range.to, signal)
      : prometheus.queryRange(expr, range, signal));
    return found.map((one) => seriesOf(target, one, panel.kind === 'table' ? null : range));
  };
  try {
    const series = (await Promise.all(panel.targets.map(ask))).flat();
    const seriesMax = panel.kind === 'table' ? ROWS_MAX : SERIES_MAX;
    const absent = series.some(hasValue) ? [] : await absentOf(prometheus, panel, range, signal);
    return {
      state: 'ok',
      data: {
        range,
        series: series.slice(0, seriesMax),
        omitted: Math.max(0, series.length - seriesMax),
        absent,
      },
    };
  } catch (error) {
    if (error instanceof PrometheusError) return { state: error.fault };
    throw error;
  }
}

const hasValue = ({ values }: PanelSeries): boolean => values.some((value) => value !== null);

/** @param range null for the one value of an instant query */
function seriesOf(
  { refId }: Target,
  { labels, values }: PrometheusSeries,
  range: TimeRange | null,
): PanelSeries {
  if (range === null) return { refId, labels, values: values.map(([, value]) => finite(value)) };
  const points: (number | null)[] = Array.from({ length: pointsIn(range) }, () => null);
  for (const [seconds, value] of values) {
    const at = Math.round((seconds - range.from) / range.stepSeconds);
    if (at >= 0 && at < points.length) points[at] = finite(value);
  }
  return { refId, labels, values: points };
}

/** Prometheus writes `NaN`, as for a share of nothing, and infinities. */
function finite(value: string): number | null {
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

const METRIC = /\b(?:onecode[_:][a-z0-9_:]+|nodejs_[a-z0-9_]+|process_[a-z0-9_]+)/g;

/** The metrics of a panel of which Prometheus has no series. An empty answer may also mean that nothing matches. */
async function absentOf(
  prometheus: Prometheus,
  panel: Panel,
  range: TimeRange,
  signal: AbortSignal,
): Promise<string[]> {
  const names = [...new Set(panel.targets.flatMap(({ expr }) => expr.match(METRIC) ?? []))];
  if (names.length === 0) return [];
  const found = await prometheus.query(
    `count by (__name__) ({__name__=~"${names.join('|')}"})`,
    range.to,
    signal,
  );
  const present = new Set(found.map(({ labels }) => labels['__name__']));
  return names.filter((name) => !present.has(name));
}
