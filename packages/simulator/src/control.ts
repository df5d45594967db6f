import express, { Router, type NextFunction, type Request, type Response } from 'express';
import type { Business, ChangeOptions } from './business.js';
import type { Change } from './changeWebhooks.js';
import type { Events } from './events.js';
import type { Rules } from './faults.js';
import { changeOf, digits, InvalidInput, object, text } from './input.js';
import type { Messages } from './messages.js';
import { readReceipt, type Receipts } from './receipts.js';
import type { Requests } from './requests.js';
import { DEFAULT_WABA_ID } from './senders.js';
import type { Settings } from './settings.js';
import type { Throttles } from './throttles.js';

export interface ControlParts {
  business: Business;
  events: Events;
  messages: Messages;
  receipts: Receipts;
  requests: Requests;
  rules: Rules;
  settings: Settings;
  throttles: Throttles;
  status: () => unknown;
  reset: () => void;
}

const REPLY = text(/^.{1,4096}$/su, 'a text of at most 4096 characters');
const CHANGE = {
  wabaId: digits,
  field: text(/^[a-z_]{1,64}$/, 'the name of a webhook field'),
  value: object,
};

/** `/simulator/...`: what tests and the phone page use to look inside and to make things go wrong. Not part of Meta's API. */
export function control(parts: ControlParts): Router {
  const { business, events, messages, receipts, requests, rules, settings, throttles } = parts;
  const router = Router();
  router.use(sameSiteOnly, (_request, response, next) => {
    response.set('Cache-Control', 'no-store');
    next();
  });
  router.get('/events', (request, response) => events.open(request, response));
  router.get('/status', (_request, response) => void response.json(parts.status()));
  router.get('/messages', ({ query }, response) => {
    const recipient = typeof query['recipient'] === 'string' ? query['recipient'] : undefined;
    response.json(messages.newest(limitOf(query['limit']), recipient));
  });
  router.get('/requests', ({ query }, response) => {
    response.json(requests.newest(limitOf(query['limit'])));
  });
  router.get('/business', (_request, response) => void response.json(business.snapshot()));
  router.get('/rules', (_request, response) => void response.json(rules.list()));
  router.get('/settings', (_request, response) => void response.json(settings.current));

  router.use(express.json({ limit: '64kb' }));
  router.get('/throttles', (_request, response) => void response.json(throttles.list()));
  router.post('/throttles', ({ body }, response) => void response.status(201).json(throttles.add(body)));
  router.delete('/throttles/:id', ({ params }, response) => {
    if (!throttles.end(params.id)) return fault(response, 404, ['no such throttle lasts']);
    response.status(204).end();
  });
  router.post('/messages/:id/read', async (request, response) => {
    if (!messages.get(request.params.id)) return fault(response, 404, ['no such message']);
    if (!(await receipts.markRead(request.params.id)))
      return fault(response, 409, ['the message was read before, failed, or never arrived']);
    response.json(messages.get(request.params.id));
  });
  router.post('/messages/:id/did-not-request', async (request, response) => {
    if (!messages.get(request.params.id)) return fault(response, 404, ['no such message']);
    if (!(await receipts.didNotRequest(request.params.id)))
      return fault(response, 409, ['the message was reported before, failed, or never arrived']);
    response.json(messages.get(request.params.id));
  });
  router.post('/messages/:id/reply', async (request, response) => {
    const message = messages.get(request.params.id);
    if (!message) return fault(response, 404, ['no such message']);
    const { text: written = '' } = changeOf<{ text: string }>(request.body, { text: REPLY });
    response.json({ webhook_status: await receipts.reply(message, written) });
  });
  router.get('/identities/:recipient', ({ params }, response) => {
    response.json({ identityKeyHash: business.identities.hashOf(params.recipient) });
  });
  router.post('/identities/:recipient/change-hands', ({ params }, response) => {
    response.json({ identityKeyHash: business.identities.changeHands(params.recipient) });
  });
  router.post('/webhooks', async ({ body }, response) => {
    const {
      wabaId = DEFAULT_WABA_ID,
      field = '',
      value = {},
    } = changeOf<{ wabaId: string } & Change>(body, CHANGE);
    await business.tell(wabaId, { field, value });
    response.status(204).end();
  });
  router.post('/receipts', async (request, response) => {
    response.json({ webhook_status: await receipts.post(readReceipt(request.body)) });
  });
  const addRule = (request: Request, response: Response) => {
    response.status(201).json(rules.add(request.body));
  };
  router.post('/rules', addRule).put('/rules', addRule);
  router.delete('/rules', (_request, response) => {
    rules.clear();
    response.status(204).end();
  });
  router.delete('/rules/:id', (request, response) => {
    if (!rules.remove(request.params.id)) return fault(response, 404, ['no such rule']);
    response.status(204).end();
  });
  router.put('/portfolio', async ({ body, query }, response) => {
    response.json(await business.changePortfolio(body, optionsOf(query)));
  });
  router.put('/business-accounts/:id', async ({ params, body, query }, response) => {
    response.json(await business.changeAccount(params.id, body, optionsOf(query)));
  });
  router.put(
    '/business-accounts/:wabaId/templates/:name/:language',
    async ({ params, body, query }, response) => {
      response.json(await business.changeTemplate(params, body, optionsOf(query)));
    },
  );
  router.put('/senders/:id', async ({ params, body, query }, response) => {
    response.json(await business.changeSender(params.id, body, optionsOf(query)));
  });
  router.put('/tokens/:token', ({ params, body }, response) => {
    response.json(business.tokens.change(params.token, body));
  });
  router.put('/settings', (request, response) => {
    settings.change(request.body);
    response.json(settings.current);
  });
  router.post('/reset', (_request, response) => {
    parts.reset();
    response.status(204).end();
  });
  router.use((_request, response) => fault(response, 404, ['no such path']));
  router.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (error instanceof InvalidInput) fault(response, 422, error.faults);
    else if (isClientError(error)) fault(response, error.status, ['the body is no readable JSON']);
    else next(error);
  });
  return router;
}

/** A page of another site that is open in the same browser can reach this machine; it must not work the simulator. */
function sameSiteOnly(request: Request, response: Response, next: NextFunction): void {
  const site = request.get('sec-fetch-site');
  if (site === undefined || site === 'same-origin' || site === 'none') next();
  else fault(response, 403, ['another site may not use the simulator']);
}

function fault(response: Response, http: number, errors: readonly string[]): void {
  response.status(http).json({ errors });
}

/** `?silent=true` changes the state without a webhook. */
function optionsOf({ silent }: Request['query']): ChangeOptions {
  return { silent: silent === 'true' };
}

function limitOf(value: unknown): number {
  const limit = Number(value ?? 100);
  return Number.isInteger(limit) && limit > 0 ? limit : 100;
}

function isClientError(error: unknown): error is { status: number } {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500;
}
