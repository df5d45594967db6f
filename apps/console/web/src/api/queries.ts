import {
  MutationCache,
  type Query,
  QueryCache,
  QueryClient,
  useInfiniteQuery,
  // oxlint-disable-next-line no-restricted-imports -- wrapped below
  useMutation,
  useQuery,
  type UseMutationOptions,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useRef, useSyncExternalStore } from 'react';
import { ApiProblem, call } from './http.js';

/** Reads the session again when a request finds that it has ended. Without a session, `SignedIn` shows the sign-in page. */
function onError(error: unknown): void {
  if (error instanceof ApiProblem && error.code === 'not_signed_in')
    void queryClient.invalidateQueries({ queryKey: ['session'] });
}

/** The cache of all pages. Only lost connections and server errors (5xx) are retried; a 4xx is final. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      if (queryKey[0] !== 'session') onError(error);
    },
  }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    // `navigator.onLine` is unreliable, so requests are always sent, and an unreachable server is reported at once.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (count, error) =>
        count < 2 && !(error instanceof ApiProblem && error.status >= 400 && error.status < 500),
    },
  },
});

interface Options<T> {
  /** The polling interval in milliseconds; false stops polling. */
  refreshMs?: number | ((data: T | undefined) => number | false);
  isAside?: true;
}

/**
 * Reads from the server, and reads again after a change that lists this path or a parent of it as stale.
 *
 * @param path below `/api`, or null while it is not known
 */
export function useData<T>(path: string | null, options: Options<T> = {}): UseQueryResult<T, ApiProblem> {
  const { refreshMs = false, isAside = false } = options;
  return useQuery<T, ApiProblem>({
    queryKey: (path ?? '').split(/[/?]/).filter(Boolean),
    queryFn: () => call<T>('GET', path ?? ''),
    enabled: path !== null,
    refetchInterval: typeof refreshMs === 'function' ? ({ state }) => refreshMs(state.data) : refreshMs,
    placeholderData: (before) => before,
    meta: { isAside },
  });
}

/**
 * Reads an optional part of a page, such as the choices of a filter. While the read fails, the page shows that a part is missing, see
 * `MissingPart`.
 *
 * @returns undefined until it is read
 */
export function useAside<T>(path: string | null, options: Pick<Options<T>, 'refreshMs'> = {}): T | undefined {
  return useData<T>(path, { ...options, isAside: true }).data;
}

const isMissing = ({ state, observers }: Query): boolean =>
  state.status === 'error' &&
  state.data === undefined &&
  observers.length > 0 &&
  observers.every((observer) => observer.options.meta?.['isAside'] === true);

const findMissing = (): ApiProblem | null =>
  (queryClient.getQueryCache().findAll({ predicate: isMissing })[0]?.state.error as
    | ApiProblem
    | null
    | undefined) ?? null;

/** Returns why a part of the page could not be read by `useAside`, or null; `retry` reads all missing parts again. */
export function useMissingPart(): { problem: ApiProblem | null; retry: () => void } {
  const problem = useSyncExternalStore(
    (notify) => queryClient.getQueryCache().subscribe(notify),
    findMissing,
  );
  return { problem, retry: () => void queryClient.refetchQueries({ predicate: isMissing }) };
}

/** A list with more loaded pages than this is not polled: the user is reading older entries. */
const REFRESHED_PAGES_MAX = 2;

/**
 * Reads a list with cursor pagination; each `fetchNextPage` adds a page.
 *
 * @param path below `/api`, without `before`, or null while it is not known
 * @param options.search a search that must not appear in a URL, such as a phone number; it is sent in the body of a POST
 * @param options.refreshMs the polling interval in milliseconds
 */
export function usePages<T extends { next: string | null }>(
  path: string | null,
  { search, refreshMs }: { search?: object | undefined; refreshMs?: number } = {},
) {
  return useInfiniteQuery<T, ApiProblem, T[], unknown[], string | null>({
    queryKey: [...(path ?? '').split(/[/?]/).filter(Boolean), 'pages', search],
    enabled: path !== null,
    queryFn: ({ pageParam: before }) => {
      if (path === null) throw new Error('a query without a path is not enabled');
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

/**
 * React Query's `useMutation`, in which a change joins the same change that is still running: the second click of a double
 * click comes before the page can disable its button.
 */
export function useMutationOnce<T, V = void>({
  mutationFn,
  ...options
}: Omit<UseMutationOptions<T, ApiProblem, V>, 'mutationFn'> & { mutationFn: (variables: V) => Promise<T> }) {
  const underWay = useRef(new Map<string, Promise<T>>());
  return useMutation<T, ApiProblem, V>({
    ...options,
    mutationFn: (variables) => {
      const key = JSON.stringify(variables) ?? '';
      const joined =
        underWay.current.get(key) ?? mutationFn(variables).finally(() => underWay.current.delete(key));
      underWay.current.set(key, joined);
      return joined;
    },
  });
}
