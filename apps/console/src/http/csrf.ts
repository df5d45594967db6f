import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RequestHandler } from 'express';
import { ConsoleProblem } from './problem.js';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses changes with an `Origin` other than the console: browsers send the site from which a request comes. */
export function sameOrigin(consoleUrl: string): RequestHandler {
  return (request, _response, next) => {
    if (!SAFE_METHODS.has(request.method) && request.headers.origin !== consoleUrl)
      throw new ConsoleProblem('wrong_origin');
    next();
  };
}

/** Returns the CSRF token of a session. */
export function csrfTokenOf(secret: string, sessionToken: string): string {
  return createHmac('sha256', secret).update(`csrf ${sessionToken}`).digest('base64url');
}

/** Refuses a signed-in user's change without the CSRF token of their session. @throws ConsoleProblem `wrong_origin` */
export function requireCsrfToken(method: string, person: { csrfToken: string } | null, given: unknown): void {
  if (SAFE_METHODS.has(method.toUpperCase()) || person === null) return;
  const expected = Buffer.from(person.csrfToken);
  const brought = Buffer.from(typeof given === 'string' ? given : '');
  if (expected.length !== brought.length || !timingSafeEqual(expected, brought))
    throw new ConsoleProblem('wrong_origin');
}
