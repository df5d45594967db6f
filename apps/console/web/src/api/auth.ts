import type { QueryClient } from '@tanstack/react-query';
import type { SessionView } from '../../../src/features/session/view.js';
import { call, rememberCsrfToken } from './http.js';

const post = <T = void>(path: string, body: object = {}): Promise<T> => call<T>('POST', `/auth${path}`, body);

/** With a second step, nobody is signed in before it is taken. */
export const signIn = (email: string, password: string): Promise<{ secondStep: boolean }> =>
  post('/sign-in/email', { email, password });

export const takeSecondStep = (code: string, kind: 'app' | 'backup'): Promise<void> =>
  post(kind === 'app' ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code', { code });

export const signUp = (person: {
  name: string;
  email: string;
  password: string;
  language: string;
}): Promise<void> => post('/sign-up/email', person);

export const signOut = (): Promise<void> => post('/sign-out');

/** Ends every other session. */
export const changePassword = (password: string, newPassword: string): Promise<void> =>
  post('/change-password', { password, newPassword });

/** Nothing is turned on before `takeSecondStep` with a code. */
export const beginTwoFactor = (password: string): Promise<{ uri: string; backupCodes: string[] }> =>
  post('/two-factor/enable', { password });

export const turnTwoFactorOff = (password: string): Promise<void> =>
  post('/two-factor/disable', { password });

export const replaceBackupCodes = (password: string): Promise<{ backupCodes: string[] }> =>
  post('/two-factor/generate-backup-codes', { password });

/** A code of the authenticator, or a backup code. */
export const confirmWithCode = (code: string): Promise<void> => post('/two-factor/confirm', { code });

/** For people without a second factor. */
export const confirmWithPassword = (password: string): Promise<void> =>
  post('/confirm-password', { password });

/** Reads anew who is signed in: after a change of the session, changes need its new token. */
export async function readSession(client: QueryClient): Promise<SessionView> {
  const session = await client.fetchQuery({
    queryKey: ['session'],
    queryFn: () => call<SessionView>('GET', '/session'),
    staleTime: 0,
  });
  rememberCsrfToken(session.csrfToken);
  return session;
}
