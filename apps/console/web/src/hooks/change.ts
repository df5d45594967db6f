import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { call, type ApiProblem } from '../api/http.js';
import { useMutationOnce } from '../api/queries.js';
import { useFieldErrors } from './forms.js';

/** A request to the server. */
export interface Change {
  method: 'POST' | 'PUT' | 'DELETE';
  /** Below `/api`. */
  path: string;
  body?: object | undefined;
}

/** Changes by their methods. @param path below `/api` */
export const post = (path: string, body?: object): Change => ({ method: 'POST', path, body });
export const put = (path: string, body: object): Change => ({ method: 'PUT', path, body });
export const remove = (path: string): Change => ({ method: 'DELETE', path });

interface Options<T> {
  /** The notification after the change. */
  done?: string | ((answer: T) => string);
  onDone?: (answer: T) => void;
  /** Runs before the stale paths are read again, for state that the refreshed page needs. */
  beforeRefresh?: (answer: T) => void;
  /** The form that shows the fields that the server refused. */
  form?: { setErrors: (errors: Record<string, string>) => void };
  /** The title of the error notification, if no form shows the error. */
  failed?: (problem: ApiProblem) => string;
  /** 0 for a response that contains a secret: it is deleted with the component that shows it. */
  gcTime?: 0;
}

/**
 * Changes something on the server.
 *
 * @param stale paths below `/api` that are read again afterwards, with every path below them
 */
export function useChange<T = void>(
  stale: readonly string[],
  { done, onDone, beforeRefresh, form, failed, ...rest }: Options<T> = {},
) {
  const client = useQueryClient();
  const fieldErrorsOf = useFieldErrors();
  const refresh = async (): Promise<void> => {
    await Promise.all(
      stale.map((path) => client.invalidateQueries({ queryKey: path.split(/[/?]/).filter(Boolean) })),
    );
  };
  return useMutationOnce<T, Change>({
    ...rest,
    // All steps are here, because the component that started the change may unmount with the changed object, and its callbacks would not
    // run.
    mutationFn: async ({ method, path, body }) => {
      const answer = await call<T>(method, path, body);
      beforeRefresh?.(answer);
      await refresh();
      if (done !== undefined) notifications.show({ message: typeof done === 'string' ? done : done(answer) });
      onDone?.(answer);
      return answer;
    },
    onError: (problem) => {
      form?.setErrors(fieldErrorsOf(problem));
      if (failed !== undefined) notifications.show({ color: 'red', message: failed(problem) });
      // The change may have been made although its response was lost: show the current state before a retry.
      if (problem.status === 0 || problem.status >= 500) void refresh();
    },
  });
}

/** A change of an account, by staff or by its members. @param account its path below `/api` */
export function useAccountChange(account: string, onDone: () => void) {
  const { t } = useTranslation();
  const stale = [account, '/staff/accounts', '/staff/holds', '/staff/audit'];
  return useChange(stale, { done: t('saved'), onDone });
}
