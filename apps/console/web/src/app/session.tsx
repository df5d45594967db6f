import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, useLocation, useParams } from 'react-router';
import type { SessionView } from '../../../src/features/session/view.js';
import { rememberCsrfToken } from '../api/http.js';
import { useData } from '../api/queries.js';
import { Failure, Loading } from '../components/states.js';

const SessionContext = createContext<SessionView | null>(null);

/** Renders its children for a signed-in user and redirects all other users to the sign-in page. */
export function SignedIn({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useData<SessionView>('/session');
  const { i18n } = useTranslation();
  const location = useLocation();
  const language = data?.user.language;
  useEffect(() => {
    if (language !== undefined) void i18n.changeLanguage(language);
  }, [i18n, language]);

  if (error?.code === 'not_signed_in')
    return <Navigate to="/sign-in" replace state={{ from: location.pathname + location.search }} />;
  // After a failed refresh, the earlier session is kept.
  if (error !== null && data === undefined) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  rememberCsrfToken(data.csrfToken);
  return <SessionContext value={data}>{children}</SessionContext>;
}

/** The session of the signed-in user. @throws Error outside `SignedIn` */
export function useSession(): SessionView {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession needs SignedIn above it');
  return session;
}

/**
 * Returns the account in the URL: one of the user's accounts, with their rights in it, or for staff any account, read-only.
 *
 * @throws Error when it is neither
 */
export function useAccount(): SessionView['accounts'][number] & {
  /** The path of its data, below `/api`; its pages have the same path. */
  path: string;
  /** The path of the pages of its sends. */
  sendsPath: string;
  isForStaff: boolean;
  mayChange: boolean;
  mayManage: boolean;
} {
  const { account: id, target } = useParams();
  const { accounts, user } = useSession();
  if (target !== undefined && user.staff !== null) {
    const path = `/staff/accounts/${target}`;
    return {
      id: target,
      name: '',
      language: 'en',
      role: 'viewer',
      path,
      sendsPath: '/staff/sends',
      isForStaff: true,
      mayChange: false,
      mayManage: false,
    };
  }
  const account = accounts.find((one) => one.id === id);
  if (account === undefined) throw new Error('the URL names no account of this user');
  return {
    ...account,
    path: `/accounts/${account.id}`,
    sendsPath: `/accounts/${account.id}/sends`,
    isForStaff: false,
    mayChange: account.role !== 'viewer',
    mayManage: account.role === 'admin',
  };
}

/** Returns whether the user may control deliveries: pause, resume, hold, release, check. All staff may. */
export function useMayControlDelivery(): boolean {
  return useSession().user.staff !== null;
}

/** Returns whether the user may make changes that only operators may make. On-call staff may not. */
export function useMayOperate(): boolean {
  return useSession().user.staff === 'operator';
}
