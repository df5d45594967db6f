import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { betterAuth } from 'better-auth';
import { fromNodeHeaders } from 'better-auth/node';
import { twoFactor } from 'better-auth/plugins';
import type { Locale } from '@onecode/domain';
import type { Logger } from '@onecode/runtime';
import {
  endSession,
  findPendingUser,
  isSessionOver,
  newId,
  noteSessionUse,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  SESSION_MS_MAX,
  type Database,
  type StaffRole,
} from '@onecode/store';
import { authStorage } from '@onecode/store/sign-in';
import type { ConsoleConfig } from './config.js';
import { passwordsInTurn } from './passwordsInTurn.js';

/** Somebody who is signed in. */
export interface Person {
  id: string;
  name: string;
  email: string;
  language: Locale;
  staff: StaffRole | null;
  hasTwoFactor: boolean;
  /** The session that speaks for them. */
  sessionId: string;
  /** To be sent back in `X-CSRF-Token` with every change. */
  csrfToken: string;
}

export interface Identity {
  /** Hands a request to better-auth, as it came from the client at this address. */
  answer(request: Request, clientAddress: string): Promise<Response>;
  /** Who a request's session cookie speaks for, or null. */
  personOf(headers: IncomingHttpHeaders): Promise<Person | null>;
  /** @throws APIError of better-auth's for a password that is not the one of whoever the session cookie speaks for */
  checkPassword(headers: Headers, password: string): Promise<void>;
  /**
   * The id of whoever stands between the password and the second factor, by the cookie of the first step; or null. The cookie's
   * signature is not looked at: to be asked once better-auth has judged a code by it.
   */
  pendingUserOf(headers: IncomingHttpHeaders): Promise<string | null>;
}

const COOKIE_PREFIX = '__Host-onecode';
/** What better-auth gives whoever took the first step: an id for it, and after a dot its signature. */
const PENDING_COOKIE = new RegExp(`(?:^|; *)${COOKIE_PREFIX}\\.two_factor=(2fa-[A-Za-z0-9_-]+)`);

const SESSION_SECONDS = SESSION_MS_MAX / 1_000;

/** The header in which the server itself says where a request came from: one that a client sends is overwritten. */
const CLIENT_ADDRESS = 'x-onecode-client';

/** Who people are: better-auth on our tables, with cookies that only this very host can set and read. */
export function createIdentity({
  config,
  database,
  log,
}: {
  config: ConsoleConfig;
  database: Database;
  log: Logger;
}): Identity {
  const auth = betterAuth({
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
    },
    session: {
      modelName: 'userSession',
      // The cookie lasts as long as a session may at the most; `isSessionOver` ends those that are not used. Left to note their use
      // by itself, better-auth would do so before we look, and none would ever be found unused.
      expiresIn: SESSION_SECONDS,
      disableSessionRefresh: true,
    },
    account: { modelName: 'userCredential' },
    verification: { modelName: 'userVerification' },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      password: passwordsInTurn,
    },
    plugins: [twoFactor({ issuer: 'Onecode', schema: { twoFactor: { modelName: 'userTwoFactor' } } })],
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'signInLimit',
      window: 60,
      max: 300,
      customRules: {
        '/sign-in/email': { window: 60, max: 10 },
        // Counted before the password is judged, see `takeSignUp`.
        '/sign-up/email': false,
        '/two-factor/*': { window: 60, max: 10 },
      },
    },
    advanced: {
      database: { generateId: () => newId() },
      cookiePrefix: COOKIE_PREFIX,
      // The prefix is ours, so that it is the stricter one; the attributes are those that it demands.
      useSecureCookies: false,
      defaultCookieAttributes: { secure: true, httpOnly: true, sameSite: 'strict', path: '/' },
      ipAddress: { ipAddressHeaders: [CLIENT_ADDRESS] },
    },
  });

  return {
    answer(request, clientAddress) {
      request.headers.set(CLIENT_ADDRESS, clientAddress);
      return auth.handler(request);
    },
    async checkPassword(headers, password) {
      await auth.api.verifyPassword({ headers, body: { password } });
    },
    async pendingUserOf({ cookie = '' }) {
      const step = PENDING_COOKIE.exec(cookie)?.[1];
      return step === undefined ? null : findPendingUser(database, step);
    },
    async personOf(headers) {
      const found = await auth.api.getSession({ headers: fromNodeHeaders(headers) });
      if (found === null) return null;
      const { user, session } = found;
      if (isSessionOver(session)) {
        await endSession(database, session.id);
        return null;
      }
      await noteSessionUse(database, session);
      return {
        id: user.id,
        name: user.name,
        email: user.email,
        language: (user.language as Locale | null) ?? browserLanguage(headers),
        staff: (user.staff ?? null) as StaffRole | null,
        hasTwoFactor: user.twoFactorEnabled ?? false,
        sessionId: session.id,
        csrfToken: csrfToken(config.SESSION_SECRET, session.token),
      };
    },
  };
}

/** The first language of Accept-Language counts, as `navigator.language` does on the pages before the sign-in. */
function browserLanguage({ 'accept-language': accepted = '' }: IncomingHttpHeaders): Locale {
  return /^\s*pt\b/i.test(accepted) ? 'pt-BR' : 'en';
}

function csrfToken(secret: string, sessionToken: string): string {
  return createHmac('sha256', secret).update(`csrf ${sessionToken}`).digest('base64url');
}

/** Whether a request brought the person's own token, in constant time. */
export function hasCsrfToken(person: Person, given: string | undefined): boolean {
  const expected = Buffer.from(person.csrfToken);
  const brought = Buffer.from(given ?? '');
  return expected.length === brought.length && timingSafeEqual(expected, brought);
}
