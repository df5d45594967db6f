import { notifications } from '@mantine/notifications';
import { useChange, type Change } from '../../../api/queries.js';

/** Changes a sender, or adds one: says that it was done, and calls `onDone`. */
export function useSenderChange(onDone: () => void) {
  const change = useChange('/operations/senders', '/operations/audit');
  return {
    pending: change.isPending,
    problem: change.error,
    /** `path` is below that of all senders. */
    send({ path, ...rest }: Change, said: string): void {
      change.mutate(
        { ...rest, path: `/operations/senders${path}` },
        {
          onSuccess: () => {
            onDone();
            notifications.show({ message: said, color: 'teal' });
          },
        },
      );
    },
  };
}
