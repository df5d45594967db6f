import express, { type Express, type RequestHandler } from 'express';
import { Problem } from '@onecode/domain';
import { observeRequests, type Readiness } from '@onecode/runtime';
import { readSettings } from '@onecode/store/accounts';
import { answerJson, answerText, problemWriter } from './answer.js';
import type { ApiContext } from './context.js';
import { docsRouter } from './docs.js';
import { prepareRequests, resource, routeOf } from './requests.js';
import { createSendRoute, sendStatusRoute, verifyRoute } from './routes/sends.js';
import { webhookHandshakeRoute, webhookRoute } from './routes/whatsappWebhook.js';

/** The traced paths: health checks and documentation are not traced. */
const TRACED = /^\/(?:v1|webhooks)\//;

/** Builds the HTTP application: its middleware and routes. */
export function createApp(context: ApiContext): Express {
  const { config, log, metrics, refusedRequests, readiness } = context;
  const app = express();
  app.disable('x-powered-by');
  app.enable('strict routing').enable('case sensitive routing');

  app.use(observeRequests(log, TRACED, routeOf, metrics.requests), prepareRequests(config.BASE_URL));

  resource(app, '/v1/send', { post: createSendRoute(context) });
  // Express tries the paths in this order, and most requests are webhooks.
  const webhook = { get: webhookHandshakeRoute(context), post: webhookRoute(context) };
  for (const path of ['/webhooks/whatsapp', '/webhooks/whatsapp/:id']) resource(app, path, webhook);
  resource(app, '/v1/send/:id/status', { get: sendStatusRoute(context) as RequestHandler });
  resource(app, '/v1/send/:id/verify', { post: verifyRoute(context) as RequestHandler });
  resource(app, '/v1/signup-settings', { get: signupSettingsRoute(context) });
  resource(app, '/livez', { get: (_request, response) => answerText(response, 200, 'ok\n') });
  resource(app, '/readyz', { get: readyRoute(readiness) });
  app.use(docsRouter(config));

  app.use(() => {
    throw new Problem('not_found');
  });
  app.use(problemWriter(config.DOCS_URL, log, refusedRequests));
  return app;
}

function signupSettingsRoute({ database }: ApiContext): RequestHandler {
  return async (_request, response) => {
    const { freeSends } = await readSettings(database);
    answerJson(response, 200, { free_sends: freeSends });
  };
}

function readyRoute(readiness: Readiness): RequestHandler {
  return async (_request, response) => {
    const failed = (await readiness.failedChecks()).map(({ name }) => name);
    if (failed.length === 0) answerText(response, 200, 'ok\n');
    else answerText(response, 503, `not ready: ${failed.join(', ')}\n`);
  };
}
