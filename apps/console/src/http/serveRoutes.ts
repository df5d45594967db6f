import type { Request, RequestHandler, Router } from 'express';
import { isId } from '@onecode/store/client';
import type { Actor } from '@onecode/store/operations';
import { authorize, isStaffRole, requireConfirmation } from '../auth/access.js';
import type { ConsoleContext } from '../context.js';
import type { Person } from '../auth/identity.js';
import { CsvDownload, sendCsv } from './csv.js';
import { bodyReader, queryReader } from './validation.js';
import { requireCsrfToken } from './csrf.js';
import { ConsoleProblem } from './problem.js';
import type { Call, Route } from './route.js';

/** Mounts the routes. Each checks, in this order: session, CSRF token, ids in the path, access, input, confirmation. */
export function serveRoutes(router: Router, context: ConsoleContext, routes: readonly Route[]): void {
  for (const route of routes) router[route.method](route.path, handlerOf(context, route));
}

function handlerOf(context: ConsoleContext, route: Route): RequestHandler {
  const readBody = route.body && bodyReader(route.body);
  const readQuery = route.query && queryReader(route.query);
  return async (request, response) => {
    const person = await context.identity.personOf(request.headers);
    if (route.access !== 'anyone' && person === null) throw new ConsoleProblem('not_signed_in');
    requireCsrfToken(route.method, person, request.headers['x-csrf-token']);
    const params = request.params as Record<string, string>;
    if (!Object.values(params).every(isId)) throw new ConsoleProblem('not_found');
    await authorize(context, route.access, person, params['account']);
    const call = callOf(context, request, person, isStaffRole(route.access) ? 'staff' : 'user', {
      params,
      body: readBody?.(request.body ?? {}),
      query: readQuery?.(request.query),
    });
    if (route.confirmed) await requireConfirmation(context, call.person);
    const answer = await route.handle(call as Call<never, never>);
    if (answer instanceof CsvDownload)
      await sendCsv(request, response, answer, call.person.language, context.log);
    else if (answer === undefined) response.status(204).end();
    else response.json(answer);
  };
}

function callOf(
  context: ConsoleContext,
  request: Request,
  person: Person | null,
  actorKind: 'user' | 'staff',
  input: { params: Record<string, string>; body: unknown; query: unknown },
): Call {
  return {
    context,
    request,
    ...input,
    get person(): Person {
      if (person === null) throw new ConsoleProblem('not_signed_in');
      return person;
    },
    get actor(): Actor & { id: string } {
      return { kind: actorKind, id: this.person.id, name: this.person.email };
    },
    get accountId(): string {
      const account = input.params['account'] ?? input.params['target'];
      if (account === undefined) throw new Error('the route has no account in its path');
      return account;
    },
  };
}
