import type { QueryClient } from '@tanstack/react-query';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { SessionView } from '../../../src/features/session/view.js';
import { ApiProblem, call, rememberCsrfToken } from './http.js';

const post = <T = void>(path: string, body: object = {}): Promise<T> => call<T>('POST', `/auth${path}`, body);

/** With `secondStep: true`, the user is signed in only after `takeSecondStep`. */
export const signIn = (email: string, password: string): Promise<{ secondStep: boolean }> =>
  post('/sign-in/email', { email, password });

export const takeSecondStep = (code: string, kind: 'app' | 'backup'): Promise<void> =>
  post(kind === 'app' ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code', { code });

/** With `mailed`, the user is signed in only after `confirmSignUp`. */
export const signUp = (person: {
  name: string;
  email: string;
  password: string;
  language: string;
  /** The token of the invitation link. */
  invitation?: string;
}): Promise<{ mailed: true } | undefined> => post('/sign-up/email', person);

/** Requests a mailed link that sets a new password. The response is the same for every address. */
export const requestPasswordReset = (email: string, language: string): Promise<void> =>
  post('/request-password-reset', { email, language });

export const resetPassword = (token: string, password: string): Promise<void> =>
  post('/reset-password', { token, password });

/** Confirms the address of a sign-up, and signs the user in. */
export const confirmSignUp = (token: string, password: string): Promise<void> =>
  post('/confirm-sign-up', { token, password });

export const confirmAddress = (token: string): Promise<void> => post('/confirm-address', { token });

export const signOut = (): Promise<void> => post('/sign-out');

/** Changes the password, and ends every other session of the user. */
export const changePassword = (password: string, newPassword: string): Promise<void> =>
  post('/change-password', { password, newPassword });

/** Starts the set-up; `takeSecondStep` with a first code completes it. `uri` is the otpauth URI of the secret. */
export const beginTwoFactor = (password: string): Promise<{ uri: string; backupCodes: string[] }> =>
  post('/two-factor/enable', { password });

export const turnTwoFactorOff = (password: string): Promise<void> =>
  post('/two-factor/disable', { password });

export const replaceBackupCodes = (password: string): Promise<{ backupCodes: string[] }> =>
  post('/two-factor/generate-backup-codes', { password });

/** Confirms the user's identity with an authenticator code or a backup code. */
export const confirmWithCode = (code: string): Promise<void> => post('/two-factor/confirm', { code });

/** Confirms the identity of a user without two-factor authentication. */
export const confirmWithPassword = (password: string): Promise<void> =>
  post('/confirm-password', { password });

/**
 * Signs the user in with a passkey that they choose.
 *
 * @throws ApiProblem `passkey_cancelled` when the browser returns none: the user chose none, or has none
 */
export const signInWithPasskey = (): Promise<void> => presentPasskey('/passkey/verify-authentication');

/** Confirms the user's identity with a passkey. @throws ApiProblem as `signInWithPasskey` */
export const confirmWithPasskey = (): Promise<void> => presentPasskey('/passkey/confirm');

async function presentPasskey(path: string): Promise<void> {
  const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>(
    '/passkey/generate-authenticate-options',
  );
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const response = await startAuthentication({ optionsJSON }).catch(refusePasskey);
  await post(path, { response });
}

/** Creates a passkey with this name. @throws ApiProblem as `signInWithPasskey`; `passkey_exists` for an authenticator that has one */
export async function addPasskey(name: string): Promise<void> {
  const optionsJSON = await post<PublicKeyCredentialCreationOptionsJSON>(
    '/passkey/generate-register-options',
  );
  const { startRegistration } = await import('@simplewebauthn/browser');
  const response = await startRegistration({ optionsJSON }).catch(refusePasskey);
  await post('/passkey/verify-registration', { name, response });
}

/** Browsers do not report why they return no passkey, except if one exists already. */
function refusePasskey(error: unknown): never {
  const isKnown = error instanceof Error && error.name === 'InvalidStateError';
  throw new ApiProblem(400, isKnown ? 'passkey_exists' : 'passkey_cancelled');
}

/** Redirects to the staff's OpenID provider. */
export async function signInWithProvider(): Promise<void> {
  const { url } = await post<{ url: string }>('/sign-in/oidc');
  window.location.assign(url);
}

/** Reads the session again. A new session has a new CSRF token, which every later change needs. */
export async function readSession(client: QueryClient): Promise<SessionView> {
  const session = await client.fetchQuery({
    queryKey: ['session'],
    queryFn: () => call<SessionView>('GET', '/session'),
    staleTime: 0,
  });
  rememberCsrfToken(session.csrfToken);
  return session;
}
