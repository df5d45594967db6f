import type { IncomingHttpHeaders } from 'node:http';
import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth/minimal';
import { APIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { genericOAuth, type GenericOAuthConfig } from 'better-auth/plugins/generic-oauth';
import { twoFactor } from 'better-auth/plugins/two-factor';
import type { Locale } from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import { newId, type Database } from '@onecode/store/client';
import {
  claimByProvider,
  endSession,
  findPendingUser,
  isSessionOver,
  isStaff,
  logFailedSignIn,
  takeSignInRequest,
  touchSession,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  SESSION_MS_MAX,
  type StaffRole,
} from '@onecode/store/users';
import { authStorage } from '@onecode/store/sign-in';
import type { ConsoleConfig } from '../config.js';
import { csrfTokenOf } from '../http/csrf.js';
import { readProvider, type ProviderProfile, type ProviderRefusal } from './openidProvider.js';
import { limitedPasswordHasher } from './passwords.js';

/** A signed-in person. */
export interface Person {
  id: string;
  name: string;
  email: string;
  language: Locale;
  staff: StaffRole | null;
  hasTwoFactor: boolean;
  /** Whether they used more than a password in this session: their second factor, a passkey, or the identity provider. */
  showedBothFactors: boolean;
  /** The session of this request. */
  sessionId: string;
  /** Every change must send it in `X-CSRF-Token`. */
  csrfToken: string;
}

export interface Identity {
  /**
   * Passes a request to better-auth, which counts it for the client at this address.
   *
   * @throws ProviderUnavailable for the OpenID provider's paths while it cannot be used
   */
  answer(request: Request, clientAddress: string): Promise<Response>;
  /** Returns the user of the session in the request's cookie, or null. Deletes an expired session, and records the use of a valid one. */
  personOf(headers: IncomingHttpHeaders): Promise<Person | null>;
  /** @throws APIError of better-auth for a password other than the signed-in person's */
  checkPassword(headers: Headers, password: string): Promise<void>;
  /**
   * Returns the id of the user who entered their password but not yet the second factor, from the cookie of the first step; or null.
   * Does not check the cookie's signature: call it only after better-auth has checked a code with this cookie.
   */
  pendingUserOf(headers: IncomingHttpHeaders): Promise<string | null>;
}

const COOKIE_PREFIX = '__Host-onecode';
/** The cookie that better-auth sets after the first step: an id, a dot and the id's signature. */
const PENDING_COOKIE = new RegExp(`(?:^|; *)${COOKIE_PREFIX}\\.two_factor=(2fa-[A-Za-z0-9_-]+)`);

const SESSION_SECONDS = SESSION_MS_MAX / 1_000;

/** The server itself sets this header for better-auth; it overwrites what a client sends. */
const CLIENT_ADDRESS = 'x-onecode-client';

interface IdentityDependencies {
  config: ConsoleConfig;
  database: Database;
  log: Logger;
}

/** Configures better-auth for our tables. The `__Host-` prefix restricts its cookies to exactly this host. */
function createAuth({ config, database, log }: IdentityDependencies, provider: GenericOAuthConfig | null) {
  return betterAuth({
    appName: 'Onecode',
    baseURL: config.CONSOLE_URL,
    basePath: '/api/auth',
    secret: config.SESSION_SECRET,
    trustedOrigins: [config.CONSOLE_URL],
    database: authStorage(database),
    telemetry: { enabled: false },
    logger: {
      level: 'warn',
      log: (level, message) =>
        log[level === 'error' ? 'error' : 'warn']({ part: 'identity' }, message.slice(0, 200)),
    },
    user: {
      modelName: 'user',
      additionalFields: {
        language: { type: ['pt-BR', 'en'], required: false, defaultValue: 'pt-BR', input: true },
        staff: { type: 'string', required: false, input: false },
      },
      // Runs before anything about the provider's user is written.
      validateUserInfo: ({ user, source }, { headers }) =>
        source.method === 'oauth'
          ? judgeProvidersPerson(
              database,
              user.id,
              source.oauth?.profile as ProviderProfile | undefined,
              headers?.get(CLIENT_ADDRESS) ?? null,
            )
          : undefined,
    },
    session: {
      modelName: 'userSession',
      // The cookie lasts as long as the longest session; `isSessionOver` ends idle ones earlier. better-auth must not record the use of a
      // session itself: it would do so before our check, which then would never find an idle one.
      expiresIn: SESSION_SECONDS,
      disableSessionRefresh: true,
      // Every session is fresh enough for better-auth: `requireConfirmation` makes that decision.
      freshAge: 0,
      additionalFields: { bothFactors: { type: 'boolean', required: false, input: false } },
    },
    account: {
      modelName: 'userCredential',
      // `judgeProvidersPerson` alone decides which users of the provider may sign in, and logs the users that it refuses.
      accountLinking: { requireLocalEmailVerified: false, trustedProviders: ['oidc'] },
      updateAccountOnSignIn: false,
    },
    // The provider's tokens are not needed later, so they are not stored.
    databaseHooks: {
      session: {
        create: {
          // better-auth would store the IPv6 network by which it counts requests.
          before: (session, call) =>
            Promise.resolve({
              data: { ...session, ipAddress: call?.headers?.get(CLIENT_ADDRESS) ?? session.ipAddress },
            }),
        },
      },
      account: {
        create: {
          async before(account) {
            if (account.providerId === 'oidc') await claimByProvider(database, account.userId);
            return { data: { ...account, accessToken: null, refreshToken: null, idToken: null } };
          },
        },
      },
    },
    verification: { modelName: 'userVerification' },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      password: limitedPasswordHasher,
    },
    plugins: [
      twoFactor({ issuer: 'Onecode', schema: { twoFactor: { modelName: 'userTwoFactor' } } }),
      passkey({
        rpID: new URL(config.CONSOLE_URL).hostname,
        rpName: 'Onecode',
        origin: config.CONSOLE_URL,
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        schema: { passkey: { modelName: 'userPasskey' } },
        registration: {
          afterVerification: ({ verification }) =>
            requireUserVerification(verification.registrationInfo?.userVerified),
        },
        authentication: {
          afterVerification: ({ verification }) =>
            requireUserVerification(verification.authenticationInfo.userVerified),
        },
      }),
      ...(provider === null ? [] : [genericOAuth({ config: [provider] })]),
    ],
    rateLimit: {
      enabled: true,
      customStorage: {
        consume: async (key, { max, window: seconds }) => ({
          allowed: await takeSignInRequest(database, key, { max, seconds }),
          retryAfter: null,
        }),
      },
      window: 60,
      max: 300,
      customRules: {
        '/sign-in/email': { window: 60, max: 10 },
        // `takeSignUp` counts sign-ups before it validates them.
        '/sign-up/email': false,
        '/two-factor/*': { window: 60, max: 10 },
        // Two requests for each sign-in.
        '/passkey/*': { window: 60, max: 20 },
        '/sign-in/social': { window: 60, max: 10 },
        '/callback/*': { window: 60, max: 20 },
      },
    },
    advanced: {
      database: { generateId: () => newId() },
      cookiePrefix: COOKIE_PREFIX,
      // Browsers send no strict cookies when the provider's page redirects back.
      cookies: { state: { attributes: { sameSite: 'lax' } } },
      // better-auth would choose the weaker `__Secure-` prefix. `__Host-` demands these attributes.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: true, httpOnly: true, sameSite: 'strict', path: '/' },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS] },
    },
  });
}

/** The paths of better-auth that use the OpenID provider. */
const PROVIDER_PATHS = /\/api\/auth\/(?:sign-in\/social|callback\/oidc)$/;

/** Creates the console's identities: sessions, passwords, second factors, passkeys and the OpenID provider. */
export function createIdentity(dependencies: IdentityDependencies): Identity {
  const { config, database, log } = dependencies;
  const auth = createAuth(dependencies, null);
  // better-auth reads a provider's discovery document without a time limit before it answers its first request: a separate instance
  // keeps a silent provider from blocking every other request.
  let providerAuth: Promise<typeof auth> | null = null;
  const openProviderAuth = (): Promise<typeof auth> => {
    providerAuth ??= readProvider(config, log).then(
      (provider) => createAuth(dependencies, provider),
      (error: unknown) => {
        providerAuth = null;
        throw error;
      },
    );
    return providerAuth;
  };

  return {
    async answer(request, clientAddress) {
      request.headers.set(CLIENT_ADDRESS, clientAddress);
      const isOfProvider = PROVIDER_PATHS.test(new URL(request.url).pathname);
      return (isOfProvider ? await openProviderAuth() : auth).handler(request);
    },
    async checkPassword(headers, password) {
      await auth.api.verifyPassword({ headers, body: { password } });
    },
    async pendingUserOf({ cookie = '' }) {
      const id = PENDING_COOKIE.exec(cookie)?.[1];
      return id === undefined ? null : findPendingUser(database, id);
    },
    async personOf(headers) {
      const found = await auth.api.getSession({ headers: fromNodeHeaders(headers) });
      if (found === null) return null;
      const { user, session } = found;
      if (isSessionOver(session)) {
        await endSession(database, session.id);
        return null;
      }
      await touchSession(database, session);
      return {
        id: user.id,
        name: user.name,
        email: user.email,
        language: (user.language as Locale | null) ?? browserLanguage(headers),
        staff: (user.staff ?? null) as StaffRole | null,
        hasTwoFactor: user.twoFactorEnabled ?? false,
        showedBothFactors: session.bothFactors === true,
        sessionId: session.id,
        csrfToken: csrfTokenOf(config.SESSION_SECRET, session.token),
      };
    },
  };
}

/** Lets a provider sign in only existing staff, by an address that it has verified, and logs other users. */
async function judgeProvidersPerson(
  database: Database,
  id: unknown,
  profile: ProviderProfile | undefined,
  clientAddress: string | null,
): Promise<{ error: ProviderRefusal } | undefined> {
  if (typeof id !== 'string' || profile === undefined) return { error: 'provider_error' };
  const reason = (await isStaff(database, id)) ? profile.refusal : 'not_staff';
  if (reason === null) return undefined;
  await logFailedSignIn(database, { id }, { proof: 'oidc', clientAddress, reason });
  return { error: reason };
}

/** A passkey counts for both factors: possession of the device, and the PIN or biometric check of the authenticator. */
function requireUserVerification(isVerified: boolean | undefined): void {
  if (isVerified !== true) throw new APIError('UNAUTHORIZED', { code: 'AUTHENTICATION_FAILED' });
}

/** Uses the first language of Accept-Language, as the pages before sign-in use `navigator.language`. */
function browserLanguage({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Locale {
  return /^\s*pt\b/i.test(accepted) ? 'pt-BR' : 'en';
}
