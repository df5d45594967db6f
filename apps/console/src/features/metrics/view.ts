import type { Panel } from './dashboard.js';
import type { Metrics, PanelData, PanelReading } from './panelReader.js';
import { RANGES, type RangeName } from './timeRange.js';

export type { RangeName };

/** A panel as the browser knows it: everything but its queries. */
export type PanelDescription = Omit<Panel, 'targets'> & { targets: { refId: string; legend: string }[] };

export interface DashboardView {
  /** Whether there is a Prometheus to ask. */
  isConfigured: boolean;
  ranges: RangeName[];
  rows: { title: string; panels: PanelDescription[] }[];
}

/** The data of a panel; null, with the reason, where there is none. */
export interface PanelView {
  state: PanelReading['state'] | 'not_configured';
  data: PanelData | null;
}

export function dashboardView({ dashboard, readPanel }: Metrics): DashboardView {
  return {
    isConfigured: readPanel !== null,
    ranges: Object.keys(RANGES) as RangeName[],
    rows: dashboard.map(({ title, panels }) => ({ title, panels: panels.map(describe) })),
  };
}

function describe({ targets, ...panel }: Panel): PanelDescription {
  return { ...panel, targets: targets.map(({ refId, legend }) => ({ refId, legend })) };
}

export const panelView = (reading: PanelReading | null): PanelView => ({
  state: reading?.state ?? 'not_configured',
  data: reading?.state === 'ok' ? reading.data : null,
});
