import type { Change } from '../api/queries.js';
import { useStaffChange } from './staffChange.js';

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
