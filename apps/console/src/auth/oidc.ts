import type { RequestHandler } from 'express';
import { logFailedProviderSignIn, logSignIn } from '@onecode/store/users';
import { askBetterAuth } from './betterAuth.js';
import { clientAddress } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { strictObject } from '../http/fields.js';
import { ConsoleProblem } from '../http/problem.js';
import { codeOf, ProviderUnavailable, type ProviderRefusal } from './openidProvider.js';
import { actorOf, endPreviousSession, findPersonOfCookies, signInRoute, type SignInRoute } from './routes.js';

/** The path to which the provider redirects back, below `/api/auth`. */
export const OIDC_CALLBACK = '/callback/oidc';

/** The routes of the staff's OpenID provider; `not_found` if none is configured. */
export const OIDC_ROUTES: readonly SignInRoute[] = [
  signInRoute('/sign-in/oidc', 'anyone', {
    body: strictObject({}),
    async handle({ context, clientAddress, person, callBetterAuth }) {
      if (context.config.OIDC_ISSUER === '') throw new ConsoleProblem('not_found');
      const request = { provider: 'oidc', callbackURL: '/', disableRedirect: true };
      const { body, cookies } = await callBetterAuth(request, '/sign-in/social').catch(
        async (error: unknown) => {
          if (!(error instanceof ProviderUnavailable)) throw error;
          await reportRefusal(context, clientAddress, { reason: error.refusal });
          throw new ConsoleProblem('provider_unavailable');
        },
      );
      // Browsers do not send the cookie of an earlier session with the redirect from the provider's page.
      await endPreviousSession(context, person);
      return { body: { url: body['url'] }, cookies };
    },
  }),
];

/**
 * Signs in the provider's user, and redirects to the pages. A refusal redirects to the sign-in page, which shows whether the user or
 * the provider was refused; the log and the audit log contain the reason.
 */
export function oidcCallback(context: ConsoleContext): RequestHandler {
  return async (request, response) => {
    const { config, database } = context;
    if (config.OIDC_ISSUER === '') throw new ConsoleProblem('not_found');
    const at = request.originalUrl.indexOf('?');
    const query = at === -1 ? '' : request.originalUrl.slice(at);
    const address = clientAddress(request);
    const answer = await askBetterAuth(context, request, `${OIDC_CALLBACK}${query}`, null).catch(
      (error: unknown) => {
        if (!(error instanceof ProviderUnavailable)) throw error;
        return Response.json({ code: error.refusal });
      },
    );
    if (answer.status === 429) throw new ConsoleProblem('rate_limited');
    const cookies = answer.headers.getSetCookie();
    for (const cookie of cookies) response.append('Set-Cookie', cookie);
    const person = await findPersonOfCookies(context, cookies);
    if (person === null) {
      const refused = await refusalOf(answer, new URLSearchParams(query).get('error'));
      await reportRefusal(context, address, refused);
      return response.redirect(OF_USERS.has(refused.reason) ? '/sign-in?refused' : '/sign-in?failed');
    }
    await logSignIn(database, actorOf(person), person.sessionId, { proof: 'oidc', clientAddress: address });
    response.redirect('/');
  };
}

interface Refused {
  reason: ProviderRefusal;
  /** The code of better-auth or the provider. */
  code?: string | undefined;
}

/** Refusals of a known Onecode user; the audit log contains the user's name. */
const LOGGED_WITH_USER: ReadonlySet<ProviderRefusal> = new Set([
  'not_staff',
  'email_unverified',
  'email_verified_missing',
]);
/** Refusals of the user. All other reasons refuse the provider or its response. */
const OF_USERS: ReadonlySet<ProviderRefusal> = new Set([...LOGGED_WITH_USER, 'not_known', 'email_missing']);

const OWN_REFUSALS: ReadonlySet<string> = new Set<ProviderRefusal>([
  ...OF_USERS,
  'emails_differ',
  'id_token_missing',
  'provider_unreachable',
  'provider_unusable',
  'userinfo_failed',
  'userinfo_of_another',
  'userinfo_signed',
]);

/** better-auth's codes. */
const REFUSALS: Readonly<Record<string, ProviderRefusal>> = {
  signup_disabled: 'not_known',
  invalid_code: 'token_refused',
  unable_to_get_user_info: 'id_token_invalid',
  issuer_mismatch: 'id_token_invalid',
  nonce_binding_missing: 'state_lost',
  oauth_provider_not_found: 'provider_unreachable',
  state_invalid: 'state_lost',
  state_mismatch: 'state_lost',
  state_not_found: 'state_lost',
};

/**
 * Returns why better-auth refused a callback: its response is a redirect with a code, or JSON.
 *
 * @param ofProvider the error in the callback's own query, which anyone can write
 */
async function refusalOf(answer: Response, ofProvider: string | null): Promise<Refused> {
  const location = answer.headers.get('location');
  const code = codeOf(
    location === null
      ? ((await answer.json().catch(() => null)) as { code?: unknown } | null)?.code
      : new URL(location, 'http://console').searchParams.get('error'),
  );
  if (code === undefined) return { reason: 'provider_error' };
  if (code === ofProvider) return { reason: code === 'access_denied' ? code : 'provider_error', code };
  return {
    reason: OWN_REFUSALS.has(code) ? (code as ProviderRefusal) : (REFUSALS[code] ?? 'provider_error'),
    code,
  };
}

async function reportRefusal(
  { database, log }: ConsoleContext,
  clientAddress: string,
  { reason, code }: Refused,
): Promise<void> {
  log.warn({ part: 'identity', reason, ...(code !== reason && { code }) }, 'OpenID sign-in refused');
  if (!LOGGED_WITH_USER.has(reason)) await logFailedProviderSignIn(database, { clientAddress, reason });
}
