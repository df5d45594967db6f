/** The members of Grafana's dashboards that the tests read. */
export interface DashboardJson {
  panels: Panel[];
}

interface Panel {
  type: string;
  title: string;
  targets?: { expr: string }[];
}

/** The panels without the headings of rows. */
export const panelsOf = ({ panels }: DashboardJson): Panel[] => panels.filter(({ type }) => type !== 'row');
