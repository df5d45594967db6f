import { skipToken, useQuery, type QueryClient } from '@tanstack/react-query';
import type { NewAccountView } from '../../../../src/features/auth/view.js';

const queryKey = (account: string) => ['first-key', account];

/** Keeps the key of a new account for its first screen, in the memory of this window alone. */
export function keepFirstKey(client: QueryClient, { id, first }: NewAccountView): void {
  if (first !== null) client.setQueryData(queryKey(id), first.key);
}

/** Returns the path of an account's start page: the first screen while this window has its first key. */
export const newAccountPath = (client: QueryClient, account: string): string =>
  `/accounts/${account}/${client.getQueryData(queryKey(account)) === undefined ? 'overview' : 'start'}`;

/** The key of an account that was created in this window a moment ago; undefined for all others, and after a reload. */
export const useFirstKey = (account: string): string | undefined =>
  useQuery<string>({ queryKey: queryKey(account), queryFn: skipToken }).data;
