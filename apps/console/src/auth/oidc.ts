import type { RequestHandler } from 'express';
import { logSignIn } from '@onecode/store';
import { askBetterAuth } from './betterAuth.js';
import { clientAddress } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { strictObject } from '../http/fields.js';
import { ConsoleProblem } from '../http/problem.js';
import { actorOf, endPreviousSession, findPersonOfCookies, signInRoute, type SignInRoute } from './routes.js';

/** Where the provider leads back to, below `/api/auth`. */
export const OIDC_CALLBACK = '/callback/oidc';

/** The pages' way to the OpenID provider of the staff; `not_found` where there is none. */
export const OIDC_ROUTES: readonly SignInRoute[] = [
  signInRoute('/sign-in/oidc', 'anyone', {
    body: strictObject({}),
    async handle({ context, person, callBetterAuth }) {
      if (context.config.OIDC_ISSUER === '') throw new ConsoleProblem('not_found');
      const request = { provider: 'oidc', callbackURL: '/', disableRedirect: true };
      const { body, cookies } = await callBetterAuth(request, '/sign-in/social');
      // From the provider's page, a browser brings no cookie of the session that it had.
      await endPreviousSession(context, person);
      return { body: { url: body['url'] }, cookies };
    },
  }),
];

/** Signs somebody in whom the provider names, and leads to the pages; whom it refuses, to the sign-in page, which says so. */
export function oidcCallback(context: ConsoleContext): RequestHandler {
  return async (request, response) => {
    const { config, database } = context;
    if (config.OIDC_ISSUER === '') throw new ConsoleProblem('not_found');
    const at = request.originalUrl.indexOf('?');
    const query = at === -1 ? '' : request.originalUrl.slice(at);
    const answer = await askBetterAuth(context, request, `${OIDC_CALLBACK}${query}`, null);
    const cookies = answer.headers.getSetCookie();
    const person = await findPersonOfCookies(context, cookies);
    if (person !== null) {
      const given = { proof: 'oidc', clientAddress: clientAddress(request) } as const;
      await logSignIn(database, actorOf(person), person.sessionId, given);
    }
    for (const cookie of cookies) response.append('Set-Cookie', cookie);
    response.redirect(person === null ? '/sign-in?refused' : '/');
  };
}
