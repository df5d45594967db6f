import { skipToken, useQuery, type QueryClient } from '@tanstack/react-query';
import type { NewAccountView } from '../../../../src/features/auth/view.js';

const queryKey = (account: string) => ['first-key', account];

/**
 * Keeps the key of a new account for its first screen, in the memory of this window alone.
 *
 * @returns the path of the page that the new account begins with
 */
export function openNewAccount(client: QueryClient, { id, first }: NewAccountView): string {
  if (first === null) return `/accounts/${id}/overview`;
  client.setQueryData(queryKey(id), first.key);
  return `/accounts/${id}/start`;
}

/** The key of an account that was created in this window a moment ago; undefined for all others, and after a reload. */
export const useFirstKey = (account: string): string | undefined =>
  useQuery<string>({ queryKey: queryKey(account), queryFn: skipToken }).data;
