import { IconBuilding } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Navigate } from 'react-router';
import { EmptyState } from '../components/states.js';
import { NewAccount } from '../features/auth/newAccount.js';
import { newAccountPath } from '../features/start/firstKey.js';
import { useSession } from './session.js';

/** The start page: the first account, the health page for staff, and otherwise the form that creates an account, for users who may create one. */
export function Home() {
  const { t } = useTranslation(['auth', 'common']);
  const client = useQueryClient();
  const { accounts, user, mayCreateAccount } = useSession();
  const [first] = accounts;
  if (first !== undefined) return <Navigate to={newAccountPath(client, first.id)} replace />;
  if (user.staff !== null) return <Navigate to="/staff/health" replace />;
  if (mayCreateAccount) return <NewAccount />;
  return (
    <EmptyState icon={IconBuilding} title={t('newAccount.none')} order={1}>
      {t('common:problems.account_made')}
    </EmptyState>
  );
}
