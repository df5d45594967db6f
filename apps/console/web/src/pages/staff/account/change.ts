import { notifications } from '@mantine/notifications';
import { useTranslation } from 'react-i18next';
import { useChange, type Change } from '../../../api/queries.js';

/** Changes an account of others: says that it was done, and calls `onDone`. */
export function useAccountChange(id: string, onDone: () => void) {
  const { t } = useTranslation();
  const change = useChange('/operations/accounts', '/operations/audit', '/operations/holds');
  return {
    pending: change.isPending,
    problem: change.error,
    reset: change.reset,
    /** `path` is below the account's. */
    send({ path, ...rest }: Change): void {
      change.mutate(
        { ...rest, path: `/operations/accounts/${id}${path}` },
        {
          onSuccess: () => {
            onDone();
            notifications.show({ message: t('saved'), color: 'teal' });
          },
        },
      );
    },
  };
}
