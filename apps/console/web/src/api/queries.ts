import {
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { ApiProblem, call } from './http.js';

/** The pages' cache. A refusal is an answer: only a lost connection or a failure of the server is tried again. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // A server may be reached by who is said to be offline, and who cannot reach it is told at once.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (count, error) =>
        count < 2 && !(error instanceof ApiProblem && error.status >= 400 && error.status < 500),
    },
  },
});

/**
 * Reads from the server, and again whenever something below the same path was changed.
 *
 * @param path below `/api`, or null while it is not known yet
 * @param options.refreshMs how often it is read again; false for what has come to its end
 */
export function useData<T>(
  path: string | null,
  options: { refreshMs?: number | ((data: T | undefined) => number | false) } = {},
): UseQueryResult<T, ApiProblem> {
  const { refreshMs = false } = options;
  return useQuery<T, ApiProblem>({
    queryKey: (path ?? '').split(/[/?]/).filter(Boolean),
    queryFn: () => call<T>('GET', path ?? ''),
    enabled: path !== null,
    refetchInterval: typeof refreshMs === 'function' ? ({ state }) => refreshMs(state.data) : refreshMs,
    placeholderData: (before) => before,
  });
}

/** No more pages of a list are read again by themselves: somebody who went further down reads what is there. */
const REFRESHED_PAGES_MAX = 2;

/**
 * Reads a list that is paged by cursor, one page more at each `fetchNextPage`.
 *
 * @param path below `/api`, without `before`
 * @param options.search what is looked for, where it may not stand in an address; it is posted
 * @param options.refreshMs how often the list's beginning is read again
 */
export function usePages<T extends { next: string | null }>(
  path: string,
  { search, refreshMs }: { search?: object | undefined; refreshMs?: number } = {},
) {
  return useInfiniteQuery<T, ApiProblem, T[], unknown[], string | null>({
    queryKey: [...path.split(/[/?]/).filter(Boolean), 'pages', search],
    queryFn: ({ pageParam: before }) => {
      if (search !== undefined)
        return call<T>('POST', path, { ...search, ...(before !== null && { before }) });
      return call<T>(
        'GET',
        before === null ? path : `${path}${path.includes('?') ? '&' : '?'}before=${before}`,
      );
    },
    initialPageParam: null,
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state }) =>
      refreshMs !== undefined && (state.data?.pages.length ?? 0) <= REFRESHED_PAGES_MAX && refreshMs,
    select: ({ pages }) => pages,
    placeholderData: (before) => before,
  });
}

/** What a change sends. */
export interface Change {
  method: 'POST' | 'PUT' | 'DELETE';
  /** Below `/api`. */
  path: string;
  body?: object;
}

/**
 * Changes something on the server.
 *
 * @param stale paths whose data is read again afterwards, with everything below them
 */
export function useChange<T = void>(...stale: string[]) {
  const client = useQueryClient();
  const readAgain = async (): Promise<void> => {
    await Promise.all(
      stale.map((path) => client.invalidateQueries({ queryKey: path.split(/[/?]/).filter(Boolean) })),
    );
  };
  return useMutation<T, ApiProblem, Change>({
    mutationFn: ({ method, path, body }) => call<T>(method, path, body),
    onSuccess: readAgain,
    // The change may have been made all the same; whoever looks is to see it before they try again.
    onError: ({ status }) => {
      if (status === 0 || status >= 500) void readAgain();
    },
  });
}
