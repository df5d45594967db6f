import express, { type RequestHandler, type Router } from 'express';
import { requireConfirmation } from './access.js';
import { callBetterAuth, checkPassword } from './betterAuth.js';
import { clientAddress } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { bodyReader } from '../http/validation.js';
import { requireCsrfToken } from '../http/csrf.js';
import { ConsoleProblem } from '../http/problem.js';
import { MAILED_LINK_ROUTES } from './mailedLinks.js';
import { OIDC_CALLBACK, OIDC_ROUTES, oidcCallback } from './oidc.js';
import { PASSKEY_ROUTES } from './passkeys.js';
import { SIGN_IN_ROUTES, type SignInCall, type SignInRoute } from './routes.js';

/**
 * Serves sign-up, sign-in, sign-out, passwords, second factors and passkeys below `/api/auth`: the routes of better-auth that the pages
 * use, two own routes that confirm a session, and the routes of mailed links. The console's checks run first, and responses contain only
 * what the pages need. No other route of better-auth is reachable.
 */
export function signInRouter(context: ConsoleContext): Router {
  const router = express.Router();
  for (const route of [...SIGN_IN_ROUTES, ...PASSKEY_ROUTES, ...OIDC_ROUTES, ...MAILED_LINK_ROUTES])
    router.post(route.path, handlerOf(context, route));
  router.get(OIDC_CALLBACK, oidcCallback(context));
  return router;
}

function handlerOf(context: ConsoleContext, route: SignInRoute): RequestHandler {
  const readBody = bodyReader(route.body);
  return async (request, response) => {
    const person = await context.identity.personOf(request.headers);
    if (route.access === 'signed_in' && person === null) throw new ConsoleProblem('not_signed_in');
    // Pages before sign-in have no CSRF token.
    if (route.access !== 'anyone') requireCsrfToken('post', person, request.headers['x-csrf-token']);
    const call: SignInCall<unknown> = {
      context,
      person,
      clientAddress: clientAddress(request),
      body: readBody(request.body ?? {}),
      callBetterAuth: (body, path = route.path) => callBetterAuth(context, request, path, body),
      checkPassword: (password) => checkPassword(context, request, password),
      pendingUser: () => context.identity.pendingUserOf(request.headers),
    };
    if (route.confirmed && person !== null) await requireConfirmation(context, person);
    const answer = await route.handle(call as SignInCall<never>);
    for (const cookie of answer?.cookies ?? []) response.append('Set-Cookie', cookie);
    if (answer?.body === undefined) response.status(204).end();
    else response.json(answer.body);
  };
}
