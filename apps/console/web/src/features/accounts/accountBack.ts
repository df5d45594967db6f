import { useTranslation } from 'react-i18next';
import type { StaffAccountDetailsView } from '../../../../src/features/accounts/view.js';
import { useAside } from '../../api/queries.js';
import { useAccount } from '../../app/session.js';

/** The back link of an account's pages for staff: to the account, by its name. */
export function useAccountBack(): { back?: { to: string; label: string } } {
  const { t } = useTranslation();
  const { id, path, isForStaff } = useAccount();
  const data = useAside<StaffAccountDetailsView>(isForStaff ? path : null);
  return isForStaff ? { back: { to: path, label: data?.id === id ? data.name : t('words.account') } } : {};
}
