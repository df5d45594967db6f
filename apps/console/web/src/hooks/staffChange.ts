import { notifications } from '@mantine/notifications';
import { useChange, type Change } from '../api/queries.js';

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
