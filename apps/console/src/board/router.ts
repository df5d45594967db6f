import { AsyncLocalStorage } from 'node:async_hooks';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import express, { type Express, type RequestHandler, type Response, type Router } from 'express';
import { QUEUE_NAMES } from '@onecode/runtime';
import { audited, type Actor } from '@onecode/store';
import { authorize } from '../auth/access.js';
import type { ConsoleContext } from '../context.js';
import { contentSecurityPolicy } from '../http/securityHeaders.js';
import type { Person } from '../auth/identity.js';
import { requireCsrfToken } from '../http/csrf.js';
import { cacheControl } from '../http/webApplication.js';
import { ConsoleProblem } from '../http/problem.js';
import { actionOf } from './audit.js';
import { answerView } from './redaction.js';
import { boardPage, STATIC } from './page.js';
import { noteShown } from './reads.js';

const PAGES = ['/', '/metrics-history', '/job-schedulers', '/queue/:queueName', '/queue/:queueName/:jobId'];
/** What the board's pages need beyond ours: addresses below `/board/`, and one style element, word for word. */
const LOOSENED = {
  'base-uri': "'self'",
  'style-src': "'self' 'sha256-r2N1TB/gHbBtBZFKg7ejmq1acVSREzucTAEw6ga4hoU='",
};
const READING = new Set(['GET', 'HEAD']);

const WORDS = {
  en: {
    away: 'Redis does not answer. Sends are accepted and wait in the database; they leave within seconds of its return.',
    readOnly: 'You may look, but not press. Ask an operator.',
    refused:
      'The console does not allow this here. To stop deliveries use the kill switches, which hold sends and keep a reason.',
  },
  'pt-BR': {
    away: 'O Redis não responde. Os envios são aceitos e esperam no banco de dados; saem segundos depois que ele voltar.',
    readOnly: 'Você pode olhar, mas não mexer. Peça a um operador.',
    refused:
      'O console não permite isso aqui. Para parar entregas use as chaves de emergência, que seguram os envios e guardam o motivo.',
  },
} as const;

const personOf = (response: Response): Person => response.locals['person'] as Person;
const actorOf = ({ id, email }: Person): Actor & { id: string } => ({ kind: 'user', id, name: email });

/** Who asks the board for something: its own handlers get to see neither the request nor the answer. */
const asking = new AsyncLocalStorage<Person>();

/** A refusal in the form in which the board's pages show it. */
function refuse(response: Response, status: number, why: keyof (typeof WORDS)['en']): void {
  response.status(status).json({ error: WORDS[personOf(response).language][why], queues: [] });
}

/**
 * The queue board at `/board`, for the staff: pages, their files, and what they ask for. On-call staff read, operators may act.
 * The library has neither a login nor a defence against forged requests, so nothing reaches it but through these checks.
 */
export function boardRouter(context: ConsoleContext): Router {
  const boards = { on_call: board(context, 'read'), operator: board(context, 'act') };
  const router = express.Router();
  router.use(staffOnly(context));
  router.use(
    '/static',
    express.static(STATIC, {
      index: false,
      redirect: false,
      fallthrough: false,
      setHeaders: cacheControl('private, max-age=3600'),
    }),
  );
  router.get(PAGES, (_request, response) => {
    const person = personOf(response);
    // The board's pages send the cookie's value back in a header, which other sites cannot.
    response.cookie('XSRF-TOKEN', person.csrfToken, { path: '/board', secure: true, sameSite: 'strict' });
    response.set('Content-Security-Policy', contentSecurityPolicy(LOOSENED));
    response.type('html').send(boardPage(person));
  });
  router.use('/api', actionsOf(context), (_request, response, next) => {
    if (context.queues.isReady()) next();
    else refuse(response, 503, 'away');
  });
  router.use((request, response, next) => {
    const person = personOf(response);
    const { staff } = person;
    if (staff === null || !request.path.startsWith('/api/')) return next();
    asking.run(person, () => boards[staff](request, response, next));
  });
  router.use(() => {
    throw new ConsoleProblem('not_found');
  });
  return router;
}

/** Lets the staff in. Anybody else learns nothing: not signed in, pages lead to the sign-in. */
function staffOnly(context: ConsoleContext): RequestHandler {
  return async (request, response, next) => {
    const person = await context.identity.personOf(request.headers);
    const isPage = !/^\/(?:api|static)(?:\/|$)/.test(request.path);
    if (person === null && isPage && READING.has(request.method)) {
      response.redirect('/sign-in');
      return;
    }
    try {
      await authorize(context, 'on_call', person, undefined);
    } catch (error) {
      if (!isPage || !(error instanceof ConsoleProblem) || error.code !== 'second_factor_required')
        throw error;
      // The console's own pages say why, and lead to where it is turned on.
      response.redirect('/staff/health');
      return;
    }
    response.locals['person'] = person;
    next();
  };
}

/** Refuses changes by all but operators, and those that nobody may make here; the others are written into the audit log first. */
function actionsOf({ database }: ConsoleContext): RequestHandler {
  return async (request, response, next) => {
    if (READING.has(request.method)) return next();
    const person = personOf(response);
    requireCsrfToken(request.method, person, request.headers['x-xsrf-token']);
    if (person.staff !== 'operator') return refuse(response, 403, 'readOnly');
    const note = actionOf(request);
    if (note === null) return refuse(response, 405, 'refused');
    await audited(database, actorOf(person), async () => ({ result: undefined, note }));
    next();
  };
}

/** bull-board on our queues; each of its answers is cut down to what may be shown, and logged. */
function board({ queues, database }: ConsoleContext, may: 'read' | 'act'): Express {
  const serverAdapter = new ExpressAdapter();
  createBullBoard({
    queues: QUEUE_NAMES.map((name) => new BullMQAdapter(queues.of(name), { readOnlyMode: may === 'read' })),
    serverAdapter,
    options: {
      handlerHooks: {
        async after({ route }, answer) {
          const body = answerView(route, answer.status ?? 200, answer.body);
          const person = asking.getStore();
          if (person === undefined) throw new Error('nobody asks the board');
          await noteShown(database, actorOf(person), route, body);
          return { ...answer, body };
        },
      },
    },
  });
  // What was thrown in a call to Redis may quote what was asked for.
  serverAdapter.setErrorHandler(() => ({
    status: 500,
    body: { error: { key: 'ERRORS.INTERNAL_SERVER_ERROR' } },
  }));
  const app = serverAdapter.getRouter() as Express;
  return app.disable('x-powered-by').disable('etag');
}
