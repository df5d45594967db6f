/** The members of Grafana's dashboards that the tests read. */
export interface DashboardJson {
  panels: Panel[];
}

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string }[];
}

/** The panels without the headings of rows. */
export const panelsOf = ({ panels }: DashboardJson): Panel[] => panels.filter(({ type }) => type !== 'row');
