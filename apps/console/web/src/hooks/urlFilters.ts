import { useSearchParams } from 'react-router';

/** The filters of a page, stored in its URL, and a function that changes some of them: null removes one. */
export function useUrlFilters(): {
  filters: URLSearchParams;
  set: (change: Readonly<Record<string, string | null>>) => void;
} {
  const [filters, setFilters] = useSearchParams();
  return {
    filters,
    set: (change) =>
      setFilters(
        (before) => {
          const after = new URLSearchParams(before);
          for (const [name, value] of Object.entries(change))
            if (value === null) after.delete(name);
            else after.set(name, value);
          return after;
        },
        { replace: true },
      ),
  };
}
