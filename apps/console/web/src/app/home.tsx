import { Navigate } from 'react-router';
import { NewAccount } from '../features/auth/newAccount.js';
import { useSession } from './session.js';

/** The start page: the first account, the health page for staff, and otherwise the form that creates an account. */
export function Home() {
  const { accounts, user } = useSession();
  const [first] = accounts;
  if (first !== undefined) return <Navigate to={`/accounts/${first.id}/overview`} replace />;
  if (user.staff !== null) return <Navigate to="/staff/health" replace />;
  return <NewAccount />;
}
