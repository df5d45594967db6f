import { useParams } from 'react-router';
import { useMayOperate, useMayStop, useSession } from '../app/session.js';

/** Whose senders the page is about: those of the account in the URL, or for the staff all. */
interface SendersPlace {
  /** Below `/api`. */
  path: string;
  audit: string;
  account: string | undefined;
  /** Whether the person may stop them, let them go on, and have them checked. */
  mayStop: boolean;
  /** Whether the person may add, change and remove them. */
  mayChange: boolean;
}

export function useSenders(): SendersPlace {
  const { account } = useParams();
  const { accounts } = useSession();
  const [mayStop, mayChange] = [useMayStop(), useMayOperate()];
  if (account === undefined)
    return { path: '/staff/senders', audit: '/staff/audit', account, mayStop, mayChange };
  const isAdmin = accounts.some(({ id, role }) => id === account && role === 'admin');
  const base = `/accounts/${account}`;
  return { path: `${base}/senders`, audit: `${base}/audit`, account, mayStop: isAdmin, mayChange: isAdmin };
}
