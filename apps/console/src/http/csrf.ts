import type { RequestHandler } from 'express';
import { hasCsrfToken, type Person } from '../auth/identity.js';
import { ConsoleProblem } from './problem.js';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses changes that do not come from the console's own pages: the browser says where they come from. */
export function sameOrigin(consoleUrl: string): RequestHandler {
  return (request, _response, next) => {
    if (!SAFE.has(request.method) && request.headers.origin !== consoleUrl)
      throw new ConsoleProblem('wrong_origin');
    next();
  };
}

/** Refuses a change without the person's own token. @throws ConsoleProblem `wrong_origin` */
export function requireCsrfToken(method: string, person: Person | null, given: unknown): void {
  if (SAFE.has(method.toUpperCase()) || person === null) return;
  if (!hasCsrfToken(person, typeof given === 'string' ? given : undefined))
    throw new ConsoleProblem('wrong_origin');
}
