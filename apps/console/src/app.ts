import type { IncomingMessage } from 'node:http';
import express, { type Express, type Request, type RequestHandler } from 'express';
import { observeRequests } from '@onecode/runtime';
import { createCloudApi } from '@onecode/whatsapp/client';
import { boardRouter } from './board/router.js';
import type { ConsoleContext, ConsoleDependencies } from './context.js';
import { securityHeaders } from './http/securityHeaders.js';
import { createStatisticsReader } from './features/health/statistics.js';
import { createIdentity } from './auth/identity.js';
import { sameOrigin } from './http/csrf.js';
import { webApplicationRouter } from './http/webApplication.js';
import { ConsoleProblem, problemWriter } from './http/problem.js';
import { ROUTES } from './features/routes.js';
import { serveRoutes } from './http/serveRoutes.js';
import { signInRouter } from './auth/router.js';

const BODY_BYTES_MAX = 64 * 1024;
const PROVIDER_TIMEOUT_MS = 10_000;

/** The traced paths: files of the web application are not traced. */
const TRACED = /^\/(?:api|board)\//;

/** Builds the HTTP application. Its routes are in the order in which they are tried. */
export function createApp(dependencies: ConsoleDependencies): Express {
  const { config, log } = dependencies;
  const context: ConsoleContext = {
    ...dependencies,
    identity: createIdentity(dependencies),
    cloudApi: createCloudApi({
      baseUrl: config.WHATSAPP_API_URL,
      timeoutMs: PROVIDER_TIMEOUT_MS,
      proxy: { url: config.HTTPS_PROXY, except: config.NO_PROXY },
    }),
    readHealth: createStatisticsReader(dependencies),
  };
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.set('trust proxy', config.PROXY_HOPS);

  app.use(
    observeRequests(log, TRACED, routeOf),
    securityHeaders(config.CONSOLE_URL),
    sameOrigin(config.CONSOLE_URL),
  );

  const api = express.Router();
  api.use(refuseLargeBody, express.json({ limit: BODY_BYTES_MAX }));
  api.use('/auth', signInRouter(context));
  serveRoutes(api, context, ROUTES);
  api.use(() => {
    throw new ConsoleProblem('not_found');
  });
  app.use('/api', api);
  app.use('/board', boardRouter(context));

  app.use(webApplicationRouter());
  app.use(() => {
    throw new ConsoleProblem('not_found');
  });
  app.use(problemWriter(log));
  return app;
}

/** Runs before the body parser, which would read the whole body before it answers. */
const refuseLargeBody: RequestHandler = ({ headers }, response, next) => {
  if (Number(headers['content-length']) > BODY_BYTES_MAX) {
    response.set('Connection', 'close');
    throw new ConsoleProblem('payload_too_large');
  }
  next();
};

/** Returns the route's pattern for the log. The path itself can contain anything. */
function routeOf(request: IncomingMessage): string {
  const { route, baseUrl } = request as Partial<Request>;
  return typeof route?.path === 'string' ? `${baseUrl ?? ''}${route.path}` : 'none';
}
