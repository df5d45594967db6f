import { useChange } from '../../../api/queries.js';

/** Sets and releases kill switches; what shows them is read again. */
export function useHolds() {
  const stale = ['/operations/holds', '/operations/accounts', '/operations/audit'];
  return { set: useChange(...stale), release: useChange(...stale) };
}
