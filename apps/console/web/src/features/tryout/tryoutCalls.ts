import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  TriedSendView,
  TryoutSendView,
  TryoutStatusView,
  TryoutVerifyView,
} from '../../../../src/features/tryout/view.js';
import { type ApiProblem, call } from '../../api/http.js';

/** The server itself waits for a change before it answers. */
const REFRESH_MS = 500;
const AFTER_ERROR_MS = 15_000;

/** What somebody wants to send. */
export interface Wanted {
  to: string;
  code?: string;
  locale?: 'pt-BR' | 'en';
  isLive: boolean;
}

/** Creates a send. `gcTime: 0` forgets number and code with the page. */
export function useCreation(path: string) {
  return useMutation<TryoutSendView, ApiProblem, Wanted>({
    gcTime: 0,
    mutationFn: (wanted) => call('POST', `${path}/send`, wanted),
  });
}

/** Verifies the code of a send. */
export function useVerification(path: string, send: TriedSendView | null) {
  return useMutation<TryoutVerifyView, ApiProblem, string>({
    gcTime: 0,
    mutationFn: (code) => call('POST', `${path}/verify`, { send: send?.id, proof: send?.proof, code }),
  });
}

/** Follows a send until it was read or failed, or its code has expired. */
export function useTriedSend(path: string, send: TriedSendView | null) {
  const client = useQueryClient();
  const key = ['tryout', path, send?.id];
  return useQuery<TryoutStatusView, ApiProblem>({
    queryKey: key,
    queryFn: () => {
      const seen = client.getQueryData<TryoutStatusView>(key)?.state?.status;
      return call('POST', `${path}/status`, {
        send: send?.id,
        proof: send?.proof,
        ...(seen !== undefined && { seen }),
      });
    },
    enabled: send !== null,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state: { data, error } }) => {
      const state = data?.state ?? send?.state;
      const isOver = state === undefined || Date.parse(state.expiresAt) < Date.now();
      if (isOver || state.status === 'read' || state.status === 'failed') return false;
      return error === null && data?.state !== null ? REFRESH_MS : AFTER_ERROR_MS;
    },
  });
}
