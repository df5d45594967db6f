import { createContext, useContext, useEffect, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, useLocation, useParams } from 'react-router';
import type { SessionView } from '../../../src/features/session/view.js';
import { rememberCsrfToken } from '../api/http.js';
import { useData } from '../api/queries.js';
import { Failure, Loading } from '../components/states.js';

const SessionContext = createContext<SessionView | null>(null);

/** Shows its children to somebody who is signed in, and the sign-in page to others. */
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
  // Who is known stays known while the session cannot be read again.
  if (error !== null && data === undefined) return <Failure problem={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  rememberCsrfToken(data.csrfToken);
  return <SessionContext value={data}>{children}</SessionContext>;
}

/** Who is signed in. */
export function useSession(): SessionView {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('nobody is signed in here');
  return session;
}

/** The account in the address, as the person sees it. */
export function useAccount(): SessionView['accounts'][number] & {
  /** Where its data is, below `/api`. */
  path: string;
  mayChange: boolean;
  mayManage: boolean;
} {
  const { account: id } = useParams();
  const account = useSession().accounts.find((one) => one.id === id);
  if (account === undefined) throw new Error('the address names no account of this person');
  return {
    ...account,
    path: `/accounts/${account.id}`,
    mayChange: account.role !== 'viewer',
    mayManage: account.role === 'admin',
  };
}

/** Whether this person of the staff may change things: an operator may, on-call staff read. */
export function useMayOperate(): boolean {
  return useSession().user.staff === 'operator';
}
