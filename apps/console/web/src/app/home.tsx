import { Navigate } from 'react-router';
import { NewAccount } from '../features/auth/newAccount.js';
import { useSession } from './session.js';

/** Where somebody starts who has just signed in: their account; for the staff, the state of the service. */
export function Home() {
  const { accounts, user } = useSession();
  const [first] = accounts;
  if (first !== undefined) return <Navigate to={`/accounts/${first.id}/overview`} replace />;
  if (user.staff !== null) return <Navigate to="/operations/health" replace />;
  return <NewAccount />;
}
