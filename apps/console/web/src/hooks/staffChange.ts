import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { type Change, useChange } from '../api/queries.js';

/**
 * Changes something by hand: calls `onDone`, and says that it was done.
 *
 * @param stale paths whose data is read again afterwards, with everything below them
 */
export function useStaffChange(stale: readonly string[], onDone: () => void) {
  const { mutate, isPending, error, reset } = useChange(...stale, '/operations/audit');
  return {
    pending: isPending,
    problem: error,
    reset,
    send: (change: Change, said: string): void =>
      mutate(change, {
        onSuccess: () => {
          onDone();
          notifications.show({ message: said, color: 'teal' });
        },
      }),
  };
}

/** Changes an account of others: calls `onDone`, and says that it was done. */
export function useAccountChange(id: string, onDone: () => void) {
  const { t } = useTranslation();
  const { send, ...change } = useStaffChange(['/operations/accounts', '/operations/holds'], onDone);
  return {
    ...change,
    /** `path` is below the account's. */
    send: ({ path, ...rest }: Change): void =>
      send({ ...rest, path: `/operations/accounts/${id}${path}` }, t('saved')),
  };
}

/** Changes a sender: calls `onDone`, and says that it was done. */
export function useSenderChange(onDone: () => void) {
  const { send, ...change } = useStaffChange(['/operations/senders'], onDone);
  return {
    ...change,
    /** `path` is below that of all senders. */
    send: ({ path, ...rest }: Change, said: string): void =>
      send({ ...rest, path: `/operations/senders${path}` }, said),
  };
}
