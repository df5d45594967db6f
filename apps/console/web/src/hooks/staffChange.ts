import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { type Change, useChange } from '../api/queries.js';
import { useSenders } from './senders.js';

/**
 * A change made by staff: calls `onDone` and shows a notification when it succeeds.
 *
 * @param stale paths below `/api` that are read again afterwards, with every path below them and the audit log
 */
export function useStaffChange(stale: readonly string[], onDone: () => void) {
  const { mutate, isPending, error, reset } = useChange(...stale, '/staff/audit');
  return {
    pending: isPending,
    problem: error,
    reset,
    send: (change: Change, message: string): void =>
      mutate(change, {
        onSuccess: () => {
          onDone();
          notifications.show({ message, color: 'teal' });
        },
      }),
  };
}

/** A change of an account. @param account its path below `/api` */
export function useAccountChange(account: string, onDone: () => void) {
  const { t } = useTranslation();
  const { send, ...change } = useStaffChange([account, '/staff/accounts', '/staff/holds'], onDone);
  return {
    ...change,
    /** `path` is below that of the account. */
    send: ({ path, ...rest }: Change): void => send({ ...rest, path: `${account}${path}` }, t('saved')),
  };
}

/** A change of a sender, by the staff or by its account. */
export function useSenderChange(onDone: () => void) {
  const { path: senders, audit } = useSenders();
  const { send, ...change } = useStaffChange([senders, audit, '/staff/health'], onDone);
  return {
    ...change,
    /** `path` is below that of the senders. */
    send: ({ path, ...rest }: Change, message: string): void =>
      send({ ...rest, path: `${senders}${path}` }, message),
  };
}
