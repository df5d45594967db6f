import { useParams } from 'react-router';
import { useMayControlDelivery, useMayOperate, useSession } from '../app/session.js';

/**
 * The senders of the page: the senders of the account in the URL, or all for staff; with their paths below `/api`, and whether the
 * user may pause, resume and check them (`mayControlDelivery`), and add, change and remove them (`mayChange`).
 */
export function useSenders() {
  const { account } = useParams();
  const { accounts } = useSession();
  const [mayControlDelivery, mayChange] = [useMayControlDelivery(), useMayOperate()];
  if (account === undefined)
    return { path: '/staff/senders', audit: '/staff/audit', account, mayControlDelivery, mayChange };
  const isAdmin = accounts.some(({ id, role }) => id === account && role === 'admin');
  const base = `/accounts/${account}`;
  return {
    path: `${base}/senders`,
    audit: `${base}/audit`,
    account,
    mayControlDelivery: isAdmin,
    mayChange: isAdmin,
  };
}
