import { Type } from 'typebox';
import { orNotFound } from '../../http/problem.js';
import { route, type Route } from '../../http/route.js';
import { RANGES, type RangeName } from './timeRange.js';
import { dashboardView, panelView } from './view.js';

/**
 * The dashboard of `deploy/grafana/onecode.json`, drawn from a Prometheus. A panel is named by its id in that file and a range: no query
 * comes from a browser.
 */
export const metricsRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/staff/metrics',
    access: 'on_call',
    async handle({ context }) {
      return dashboardView(context.metrics);
    },
  }),
  route({
    method: 'get',
    path: '/staff/metrics/panel',
    access: 'on_call',
    query: Type.Object(
      {
        id: Type.Integer({ minimum: 1, maximum: 100_000 }),
        range: Type.Enum(Object.keys(RANGES) as [RangeName, ...RangeName[]]),
      },
      { additionalProperties: false },
    ),
    async handle({ context: { metrics }, query: { id, range } }) {
      const panel = metrics.dashboard.flatMap(({ panels }) => panels).find((one) => one.id === id);
      const found = orNotFound(panel ?? null);
      return panelView((await metrics.readPanel?.(found, range)) ?? null);
    },
  }),
];
