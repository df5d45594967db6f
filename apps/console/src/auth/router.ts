import express, { type RequestHandler, type Router } from 'express';
import { requireConfirmation } from './access.js';
import { askBetterAuth, askForPassword } from './betterAuth.js';
import { clientAddress } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { bodyReader } from '../http/validation.js';
import { requireCsrfToken } from '../http/csrf.js';
import { ConsoleProblem } from '../http/problem.js';
import { SIGN_IN_ROUTES, type SignInCall, type SignInRoute } from './routes.js';

/**
 * Sign-up, sign-in, sign-out, passwords and second factors, below `/api/auth`: the few of better-auth's routes that the pages use,
 * and two of ours that confirm a session, each with our checks in front and an answer that says no more than the pages need. No
 * other one can be reached.
 */
export function signInRouter(context: ConsoleContext): Router {
  const router = express.Router();
  for (const one of SIGN_IN_ROUTES) router.post(one.path, handlerOf(context, one));
  return router;
}

function handlerOf(context: ConsoleContext, one: SignInRoute): RequestHandler {
  const readBody = bodyReader(one.body);
  return async (request, response) => {
    const person = await context.identity.personOf(request.headers);
    if (one.access === 'signed_in' && person === null) throw new ConsoleProblem('not_signed_in');
    // Whoever signs in may do so from a page that knew nobody yet.
    if (one.access !== 'anyone') requireCsrfToken('post', person, request.headers['x-csrf-token']);
    const call: SignInCall<unknown> = {
      context,
      person,
      clientAddress: clientAddress(request),
      body: readBody(request.body ?? {}),
      ask: (body, path = one.path) => askBetterAuth(context, request, path, body),
      askForPassword: (password) => askForPassword(context, request, password),
      pendingUser: () => context.identity.pendingUserOf(request.headers),
    };
    if (one.confirmed && person !== null) await requireConfirmation(context, person);
    const answer = await one.handle(call as SignInCall<never>);
    for (const cookie of answer.cookies) response.append('Set-Cookie', cookie);
    if (answer.body === undefined) response.status(204).end();
    else response.json(answer.body);
  };
}
