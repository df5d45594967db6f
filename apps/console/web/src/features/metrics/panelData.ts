import { queryOptions, useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import pLimit from 'p-limit';
import type { PanelView, RangeName } from '../../../../src/features/metrics/view.js';
import { call, type ApiProblem } from '../../api/http.js';

const REFRESH_MS = 30_000;

/** A browser opens six connections to a server: while panels wait for a slow Prometheus, the rest of the console must not. */
const limit = pLimit(3);

const panelQuery = (id: number, range: RangeName) =>
  queryOptions<PanelView, ApiProblem>({
    queryKey: ['staff', 'metrics', 'panel', id, range],
    queryFn: ({ signal }) =>
      limit(async () => {
        // The reader left while this waited for its turn.
        signal.throwIfAborted();
        return call<PanelView>('GET', `/staff/metrics/panel?id=${id}&range=${range}`);
      }),
  });

/** Reads a panel's data for a range that ends now, and reads it again every 30 seconds. */
export function usePanelData(id: number, range: RangeName): UseQueryResult<PanelView, ApiProblem> {
  return useQuery({
    ...panelQuery(id, range),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  });
}

/** Why Prometheus gave no data to one of these panels; null where none of them says so. It reads nothing. */
export function usePanelFault(ids: readonly number[], range: RangeName): PanelFault | null {
  return useQueries({
    queries: ids.map((id) => ({ ...panelQuery(id, range), enabled: false })),
    combine: (results) => results.map(({ data }) => faultOf(data)).find((fault) => fault !== null) ?? null,
  });
}

export type PanelFault = Exclude<PanelView['state'], 'ok'>;

const faultOf = (view: PanelView | undefined): PanelFault | null =>
  view === undefined || view.state === 'ok' ? null : view.state;
