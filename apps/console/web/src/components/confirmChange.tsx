import { notifications } from '@mantine/notifications';
import type { ComponentProps } from 'react';
import { useChange, type Change } from '../api/queries.js';
import { Confirm } from './dialog.js';

/**
 * Asks for confirmation before a change, makes it, and says so.
 *
 * @param stale paths below `/api` that are read again afterwards, with every path below them
 * @param done what is said then
 */
export function ConfirmChange({
  change,
  stale,
  done,
  onClose,
  ...dialog
}: Omit<ComponentProps<typeof Confirm>, 'onConfirm' | 'pending' | 'problem'> & {
  change: Change;
  stale: readonly string[];
  done: string;
}) {
  const { mutate, isPending, error, reset } = useChange(...stale);
  const close = (): void => {
    reset();
    onClose();
  };
  const confirm = (): void =>
    mutate(change, {
      onSuccess: () => {
        close();
        notifications.show({ message: done });
      },
    });
  return <Confirm {...dialog} onClose={close} pending={isPending} problem={error} onConfirm={confirm} />;
}
