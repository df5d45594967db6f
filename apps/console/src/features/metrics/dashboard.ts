import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Type, type Static } from 'typebox';
import { Value } from 'typebox/value';
import { variablesIn, VARIABLES } from './timeRange.js';

/** The one description of the panels, which Grafana imports too. */
const FILE = fileURLToPath(new URL('../../../../../deploy/grafana/onecode.json', import.meta.url));

const UNITS = ['short', 'percentunit', 'reqps', 's', 'bytes'] as const;
const COLORS = ['green', 'yellow', 'orange', 'red', 'blue'] as const;

const target = Type.Object({
  refId: Type.String({ minLength: 1 }),
  expr: Type.String({ minLength: 1 }),
  legendFormat: Type.String(),
});
const panelFields = {
  id: Type.Integer({ minimum: 1 }),
  title: Type.String({ minLength: 1 }),
  gridPos: Type.Object({
    x: Type.Integer({ minimum: 0, maximum: 23 }),
    y: Type.Integer({ minimum: 0 }),
    w: Type.Integer({ minimum: 1, maximum: 24 }),
    h: Type.Integer({ minimum: 1 }),
  }),
};
const rowPanel = Type.Object({ ...panelFields, type: Type.Literal('row') });
const dataPanel = Type.Object({
  ...panelFields,
  type: Type.Enum(['stat', 'table', 'timeseries']),
  description: Type.String({ minLength: 1 }),
  targets: Type.Array(target, { minItems: 1, maxItems: 8 }),
  fieldConfig: Type.Object({
    defaults: Type.Object({
      unit: Type.Optional(Type.Enum([...UNITS])),
      noValue: Type.Optional(Type.String()),
      min: Type.Optional(Type.Number()),
      max: Type.Optional(Type.Number()),
      thresholds: Type.Optional(
        Type.Object({
          mode: Type.Literal('absolute'),
          steps: Type.Array(
            Type.Object({
              color: Type.Enum([...COLORS]),
              value: Type.Union([Type.Number(), Type.Null()]),
            }),
          ),
        }),
      ),
      custom: Type.Optional(
        Type.Object({
          fillOpacity: Type.Optional(Type.Number({ minimum: 0, maximum: 100 })),
          stacking: Type.Optional(Type.Object({ mode: Type.Enum(['none', 'normal']) })),
        }),
      ),
    }),
  }),
  transformations: Type.Optional(
    Type.Array(
      Type.Object({
        id: Type.Literal('organize'),
        options: Type.Object({ renameByName: Type.Record(Type.String(), Type.String()) }),
      }),
      { maxItems: 1 },
    ),
  ),
});
const dashboardFile = Type.Object({ panels: Type.Array(Type.Union([rowPanel, dataPanel])) });

type DataPanel = Static<typeof dataPanel>;

/** One query of a panel. */
export interface Target {
  refId: string;
  /** PromQL, with Grafana's variables in it. It never leaves the server. */
  expr: string;
  /** The name of each of its series, with `{{label}}` for the value of a label. */
  legend: string;
}

/** A panel: how it is drawn, and what it asks. */
export interface Panel {
  id: number;
  kind: DataPanel['type'];
  title: string;
  description: string;
  /** Of 24 columns. */
  width: number;
  unit: (typeof UNITS)[number];
  min: number | null;
  max: number | null;
  /** In ascending order; the first one has no lower bound. */
  thresholds: { color: (typeof COLORS)[number]; from: number | null }[];
  /** Shown in place of a value where there is none. */
  noValue: string | null;
  isStacked: boolean;
  /** 0 to 1. */
  fillOpacity: number;
  /** The labels that a table shows, in their order. */
  columns: { label: string; title: string }[];
  targets: Target[];
}

interface DashboardRow {
  title: string;
  panels: Panel[];
}

/** The dashboard: its rows, in the order in which they are read. */
export type Dashboard = readonly DashboardRow[];

/**
 * Reads the dashboard that the Metrics page draws.
 *
 * @throws Error when it has something that the page does not know, rather than to draw it wrongly
 */
export function readDashboard(file = FILE): Dashboard {
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Value.Check(dashboardFile, content)) {
    const [fault] = Value.Errors(dashboardFile, content);
    throw new Error(`${file}: ${fault?.instancePath ?? ''} ${fault?.message ?? 'is no dashboard'}`);
  }
  const rows: DashboardRow[] = [];
  for (const panel of content.panels.toSorted(
    (a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x,
  ))
    if (panel.type === 'row') rows.push({ title: panel.title, panels: [] });
    else {
      const row = rows.at(-1);
      if (row === undefined) throw new Error(`${file}: a panel stands before the first row`);
      row.panels.push(readPanel(panel, file));
    }
  return rows;
}

function readPanel(panel: DataPanel, file: string): Panel {
  const { unit, min, max, noValue, thresholds, custom } = panel.fieldConfig.defaults;
  const unknown = panel.targets
    .flatMap(({ expr }) => variablesIn(expr))
    .filter((name) => !(name in VARIABLES));
  if (unknown.length > 0) throw new Error(`${file}: panel ${panel.id} has an unknown variable ${unknown[0]}`);
  return {
    id: panel.id,
    kind: panel.type,
    title: panel.title,
    description: panel.description,
    width: panel.gridPos.w,
    unit: unit ?? 'short',
    min: min ?? null,
    max: max ?? null,
    thresholds: (thresholds?.steps ?? []).map(({ color, value }) => ({ color, from: value })),
    noValue: noValue ?? null,
    isStacked: custom?.stacking?.mode === 'normal',
    fillOpacity: (custom?.fillOpacity ?? 0) / 100,
    columns: Object.entries(panel.transformations?.[0]?.options.renameByName ?? {}).map(([label, title]) => ({
      label,
      title,
    })),
    targets: panel.targets.map(({ refId, expr, legendFormat }) => ({ refId, expr, legend: legendFormat })),
  };
}
