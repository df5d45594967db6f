import { AsyncLocalStorage } from 'node:async_hooks';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import express, { type Express, type RequestHandler, type Response, type Router } from 'express';
import { QUEUE_NAMES } from '@onecode/runtime';
import { logEntry, type Actor } from '@onecode/store/operations';
import { authorize } from '../auth/access.js';
import type { ConsoleContext } from '../context.js';
import { contentSecurityPolicy } from '../http/securityHeaders.js';
import type { Person } from '../auth/identity.js';
import { requireCsrfToken } from '../http/csrf.js';
import { cacheControl } from '../http/webApplication.js';
import { ConsoleProblem } from '../http/problem.js';
import { actionOf, logShown } from './audit.js';
import { boardPage, PAGE_PATHS, STATIC_FOLDER } from './page.js';
import { redactAnswer } from './redaction.js';
import { BOARD_TEXTS } from './texts.js';

/**
 * The sources that bull-board's pages need in addition to the console's: URLs relative to `/board/`, and one style element, by the hash of
 * its text.
 */
const POLICY_CHANGES = {
  'base-uri': "'self'",
  'style-src': "'self' 'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='",
};
const SAFE_METHODS = new Set(['GET', 'HEAD']);

const personOf = (response: Response): Person => response.locals['person'] as Person;
const actorOf = ({ id, email }: Person): Actor & { id: string } => ({ kind: 'staff', id, name: email });

/** The user of the request that bull-board is answering. Its hooks do not get the request. */
const currentPerson = new AsyncLocalStorage<Person>();

/** Answers with an error in the form that bull-board's pages show. */
function refuse(response: Response, status: number, why: 'unavailable' | 'readOnly' | 'refused'): void {
  response.status(status).json({ error: BOARD_TEXTS[personOf(response).language][why], queues: [] });
}

/**
 * Serves the queue board at `/board` to staff: pages, files, and bull-board's API. On-call staff read; operators may also remove finished
 * jobs and resume queues. bull-board has neither a login nor CSRF protection, so every request passes the checks here first.
 */
export function boardRouter(context: ConsoleContext): Router {
  const boards = { on_call: board(context, 'read'), operator: board(context, 'act') };
  const router = express.Router();
  router.use(staffOnly(context));
  router.use(
    '/static',
    express.static(STATIC_FOLDER, {
      index: false,
      redirect: false,
      fallthrough: false,
      setHeaders: cacheControl('private, max-age=3600'),
    }),
  );
  router.get(PAGE_PATHS, (_request, response) => {
    const person = personOf(response);
    // bull-board's pages return the cookie's value in a header, which other sites cannot do.
    response.cookie('XSRF-TOKEN', person.csrfToken, { path: '/board', secure: true, sameSite: 'strict' });
    response.set('Content-Security-Policy', contentSecurityPolicy(POLICY_CHANGES));
    response.type('html').send(boardPage(person));
  });
  router.use('/api', actionsOf(context), (_request, response, next) => {
    if (context.queues.isReady()) next();
    else refuse(response, 503, 'unavailable');
  });
  router.use((request, response, next) => {
    const person = personOf(response);
    const { staff } = person;
    if (staff === null || !request.path.startsWith('/api/')) return next();
    currentPerson.run(person, () => boards[staff](request, response, next));
  });
  router.use(() => {
    throw new ConsoleProblem('not_found');
  });
  return router;
}

/** Admits staff. Pages redirect users who are not signed in; all other users get 404. */
function staffOnly(context: ConsoleContext): RequestHandler {
  return async (request, response, next) => {
    const person = await context.identity.personOf(request.headers);
    const isPage = !/^\/(?:api|static)(?:\/|$)/.test(request.path);
    if (person === null && isPage && SAFE_METHODS.has(request.method)) {
      response.redirect('/sign-in');
      return;
    }
    try {
      await authorize(context, 'on_call', person, undefined);
    } catch (error) {
      if (!isPage || !(error instanceof ConsoleProblem) || error.code !== 'second_factor_required')
        throw error;
      // The console's own page explains why, and links to the page that turns on a second factor.
      response.redirect('/staff/health');
      return;
    }
    response.locals['person'] = person;
    next();
  };
}

/** Refuses changes by on-call staff, and changes that the board does not allow. Allowed changes are added to the audit log first. */
function actionsOf({ database }: ConsoleContext): RequestHandler {
  return async (request, response, next) => {
    if (SAFE_METHODS.has(request.method)) return next();
    const person = personOf(response);
    requireCsrfToken(request.method, person, request.headers['x-xsrf-token']);
    if (person.staff !== 'operator') return refuse(response, 403, 'readOnly');
    const entry = actionOf(request);
    if (entry === null) return refuse(response, 405, 'refused');
    await logEntry(database, actorOf(person), entry);
    next();
  };
}

/** Runs bull-board on Onecode's queues. A hook redacts each response and logs what it shows. */
function board({ queues, database }: ConsoleContext, may: 'read' | 'act'): Express {
  const serverAdapter = new ExpressAdapter();
  createBullBoard({
    queues: QUEUE_NAMES.map(
      (name) =>
        // Only hides buttons; `actionsOf` refuses the requests.
        new BullMQAdapter(queues.of(name), { readOnlyMode: may === 'read', allowRetries: false }),
    ),
    serverAdapter,
    options: {
      handlerHooks: {
        async after({ route }, answer) {
          const person = currentPerson.getStore();
          if (person === undefined) throw new Error('the request has no person');
          const body = redactAnswer(route, answer.status ?? 200, answer.body, person.language);
          await logShown(database, actorOf(person), route, body);
          return { ...answer, body };
        },
      },
    },
  });
  // An error of a call to Redis may quote the request.
  serverAdapter.setErrorHandler(() => ({
    status: 500,
    body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' } },
  }));
  const app = serverAdapter.getRouter() as Express;
  return app.disable('x-powered-by').disable('etag');
}
