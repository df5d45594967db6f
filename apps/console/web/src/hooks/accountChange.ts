import { useTranslation } from 'react-i18next';
import type { Change } from '../api/queries.js';
import { useStaffChange } from './staffChange.js';

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
