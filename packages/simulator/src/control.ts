import express, { Router, type NextFunction, type Request, type Response } from 'express';
import { DEFAULT_WABA_ID, type ChangeOptions } from './business.js';
import { id, InvalidInput, object, phone, read, text } from './input.js';
import type { Parts } from './parts.js';
import { readReceipt } from './receipts.js';

const CHANGE = { wabaId: id, field: text(/^[a-z_]{1,64}$/, 'the name of a webhook field'), value: object };

/** Serves `/simulator/...`, which tests and the phone page use to read the state and inject faults. Not part of Meta's API. */
export function control(parts: Parts): Router {
  const { events, requests, settings } = parts;
  const router = Router();
  router.use(sameSiteOnly, express.json({ limit: '64kb' }), (_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/events', (request, response) => events.open(request, response));
  router.get('/status', (_request, response) => void response.json(parts.status()));
  router.get('/requests', ({ query }, response) => void response.json(newest(requests.all(), query)));
  router.get('/settings', (_request, response) => void response.json(settings.current));
  router.put('/settings', ({ body }, response) => {
    settings.change(body);
    response.json(settings.current);
  });
  router.post('/reset', (_request, response) => {
    parts.reset();
    response.status(204).end();
  });
  serveMessages(router, parts);
  serveFaults(router, parts);
  serveBusiness(router, parts);
  router.use((_request, response) => fault(response, 404, 'no such path'));
  router.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (error instanceof InvalidInput) fault(response, 422, ...error.faults);
    else if (isClientError(error)) fault(response, error.status, 'the body is not valid JSON');
    else next(error);
  });
  return router;
}

function serveMessages(router: Router, { messages, receipts }: Parts): void {
  router.get('/messages', ({ query }, response) => {
    const recipient = recipientIn(query);
    const found = messages.all(({ to }) => recipient === undefined || to === recipient);
    response.json(newest(found, query));
  });
  const personDoes = (what: string, act: (messageId: string) => Promise<boolean>) =>
    router.post(`/messages/:id/${what}`, async ({ params }, response) => {
      const messageId = params['id'];
      if (!messages.get(messageId)) return fault(response, 404, 'no such message');
      if (!(await act(messageId)))
        return fault(response, 409, 'already done, or the message failed or never arrived');
      response.json(messages.get(messageId));
    });
  personDoes('read', (messageId) => receipts.markRead(messageId));
  personDoes('did-not-request', (messageId) => receipts.didNotRequest(messageId));
  router.post('/receipts', async ({ body }, response) => {
    response.json({ webhook_status: await receipts.post(readReceipt(body)) });
  });
}

function serveFaults(router: Router, { rules, throttles }: Parts): void {
  router
    .route('/rules')
    .get((_request, response) => void response.json(rules.list()))
    .post(({ body }, response) => void response.status(201).json(rules.add(body)))
    .delete((_request, response) => {
      rules.clear();
      response.status(204).end();
    });
  router.delete('/rules/:id', ({ params }, response) => {
    if (!rules.remove(params.id)) return fault(response, 404, 'no such rule');
    response.status(204).end();
  });
  router
    .route('/throttles')
    .get((_request, response) => void response.json(throttles.list()))
    .post(({ body }, response) => void response.status(201).json(throttles.add(body)));
  router.delete('/throttles/:id', ({ params }, response) => {
    if (!throttles.end(params.id)) return fault(response, 404, 'no such active throttle');
    response.status(204).end();
  });
}

function serveBusiness(router: Router, { business }: Parts): void {
  router.get('/business', (_request, response) => void response.json(business.snapshot()));
  router.put('/portfolio', async ({ body, query }, response) => {
    response.json(await business.changePortfolio(body, optionsOf(query)));
  });
  router.put('/business-accounts/:id', async ({ params, body, query }, response) => {
    response.json(await business.changeAccount(params.id, body, optionsOf(query)));
  });
  const template = '/business-accounts/:wabaId/templates/:name/:language';
  router.put(template, async ({ params, body, query }, response) => {
    response.json(await business.changeTemplate(params, body, optionsOf(query)));
  });
  router.put('/senders/:id', async ({ params, body, query }, response) => {
    response.json(await business.changeSender(params.id, body, optionsOf(query)));
  });
  router.put('/tokens/:token', ({ params, body }, response) => {
    response.json(business.changeToken(params.token, body));
  });
  router.post('/webhooks', async ({ body }, response) => {
    const { wabaId = DEFAULT_WABA_ID, field, value = {} } = read(body, CHANGE, ['field']);
    await business.sendWebhook(wabaId, { field, value });
    response.status(204).end();
  });
}

/** Refuses requests of other sites' pages in the same browser, which can reach this machine. */
function sameSiteOnly(request: Request, response: Response, next: NextFunction): void {
  const site = request.get('sec-fetch-site');
  if (site === undefined || site === 'same-origin' || site === 'none') next();
  else fault(response, 403, 'other sites must not use the simulator');
}

function fault(response: Response, http: number, ...errors: readonly string[]): void {
  response.status(http).json({ errors });
}

/** Returns the number in `?recipient=`; undefined without one. A `+` that is not encoded arrives as a space. */
function recipientIn({ recipient }: Request['query']): string | undefined {
  if (recipient === undefined) return undefined;
  const number = typeof recipient === 'string' ? recipient.replace(/^[ +]?/, '+') : recipient;
  return read({ recipient: number }, { recipient: phone }, ['recipient']).recipient;
}

/** `?silent=true` changes the state without a webhook. */
function optionsOf({ silent }: Request['query']): ChangeOptions {
  return { silent: silent === 'true' };
}

/** Returns the newest entries first, 100 by default. */
function newest<Item>(oldestFirst: readonly Item[], { limit }: Request['query']): Item[] {
  const wanted = Number(limit ?? 100);
  const count = Number.isInteger(wanted) && wanted > 0 ? wanted : 100;
  return oldestFirst.slice(-count).toReversed();
}

function isClientError(error: unknown): error is { status: number } {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500;
}
