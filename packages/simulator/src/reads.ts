import { Router, type Request, type Response } from 'express';
import { json, obeyRead, refuse } from './answers.js';
import type { Business } from './business.js';
import { graphError, type MetaError, type Refusal } from './errors.js';
import type { Rules } from './faults.js';
import { isRefusal, readFields, readPage } from './graphFields.js';
import { accountNode, senderNode, TEMPLATE_NODE } from './nodes.js';
import type { Throttles } from './throttles.js';
import type { Timers } from './timers.js';
import { bearerOf, invalidToken, noToken } from './tokens.js';

type Answer = Record<string, unknown> | Refusal;

export interface ReadsParts {
  business: Business;
  rules: Rules;
  throttles: Throttles;
  timers: Timers;
  /** Called for each read. */
  counted: () => void;
}

/**
 * Graph's reads: a number, a business account with its templates, numbers and subscribed apps, and what a token may do.
 * Source: Meta's OpenAPI for the WhatsApp Business Platform, v23.0.
 */
export function reads(parts: ReadsParts): Router {
  const router = Router();
  const serve = (path: RegExp, read: (business: Business, request: Request) => Answer) =>
    router.get(path, (request, response) => serveRead(parts, request, response, read));
  serve(/^\/v\d+\.\d+\/debug_token\/?$/, debugToken);
  serve(/^\/v\d+\.\d+\/(?<id>[^/]+)\/?$/, readNode);
  serve(/^\/v\d+\.\d+\/(?<id>[^/]+)\/(?<edge>message_templates|phone_numbers|subscribed_apps)\/?$/, readEdge);
  return router;
}

/** Reads, unless the token, a throttle or a fault rule says otherwise. */
async function serveRead(
  { business, rules, throttles, timers, counted }: ReadsParts,
  request: Request,
  response: Response,
  read: (business: Business, request: Request) => Answer,
): Promise<void> {
  counted();
  const { id } = request.params;
  const isNode = typeof id === 'string';
  const isAccount = isNode && business.accounts.exists(id);
  const sender = isNode && !isAccount ? id : null;
  const wabaId = isAccount ? id : sender === null ? null : business.senders.describe(sender).wabaId;
  const refused = throttles.take({ sender, recipient: null, wabaId });
  if (refused) return refuse(response, refused);
  const fault = rules.takeRead(sender, wabaId)?.fault ?? {};
  await obeyRead(timers, fault, response, () => {
    const answer = read(business, request);
    if (isRefusal(answer)) refuse(response, answer);
    else json(response, 200, answer);
  });
}

function readNode(business: Business, request: Request): Answer {
  const id = String(request.params['id']);
  const refused = permission(business, request, id);
  if (refused) return refused;
  const fields = textOf(request.query['fields']);
  return business.accounts.exists(id)
    ? readFields(accountNode(business), business.accounts.describe(id), fields)
    : readFields(senderNode(business), { ...business.senders.describe(id), id }, fields);
}

function readEdge(business: Business, request: Request): Answer {
  const id = String(request.params['id']);
  const edge = String(request.params['edge']);
  const refused = permission(business, request, id);
  if (refused) return refused;
  if (!business.accounts.exists(id))
    return graphError(
      400,
      100,
      `(#100) Tried accessing nonexisting field (${edge}) on node type (WhatsAppBusinessPhoneNumber)`,
    );
  if (edge === 'subscribed_apps') return subscribedApps(business, id);
  const page = {
    fields: textOf(request.query['fields']),
    limit: textOf(request.query['limit']),
    after: textOf(request.query['after']),
    url: new URL(request.originalUrl, `${request.protocol}://${request.get('host')}`),
  };
  if (edge === 'phone_numbers') {
    const senders = business.senders.all(id).map((sender) => ({ ...sender, id: sender.phoneNumberId }));
    return readPage(senderNode(business), senders, page);
  }
  const { name, language, status, category } = request.query;
  const templates = business.templates
    .all(id)
    .filter(
      (template) =>
        (name === undefined || template.name === name) &&
        (language === undefined || template.language === language) &&
        (status === undefined || template.status === status) &&
        (category === undefined || template.category === category),
    );
  return readPage(TEMPLATE_NODE, templates, page);
}

function subscribedApps({ accounts, portfolio }: Business, id: string): Answer {
  const { appId, appName } = portfolio.current;
  const link = `https://www.facebook.com/games/?app_id=${appId}`;
  const app = { whatsapp_business_api_data: { id: appId, name: appName, link } };
  return { data: accounts.describe(id).subscribed ? [app] : [] };
}

/** Source: https://developers.facebook.com/docs/graph-api/reference/debug_token/ */
function debugToken({ tokens, portfolio, accounts }: Business, request: Request): Answer {
  const asking = bearerOf(request.headers.authorization);
  if (asking === undefined) return noToken();
  const input = textOf(request.query['input_token']);
  if (input === undefined) return graphError(400, 100, '(#100) You must provide an input_token parameter');
  // A token may always look at itself, also when it has expired.
  if (asking !== input && !tokens.isValid(asking)) return invalidToken();
  const { scopes, expiresAt, wabaIds } = tokens.describe(input);
  const valid = tokens.isValid(input);
  const targets = wabaIds ?? accounts.all().map(({ id }) => id);
  const { appId, appName } = portfolio.current;
  return {
    data: {
      app_id: appId,
      type: 'SYSTEM_USER',
      application: appName,
      data_access_expires_at: 0,
      ...(valid ? {} : { error: { code: 190, message: 'Error validating access token', subcode: 463 } }),
      expires_at: expiresAt,
      is_valid: valid,
      issued_at: 1_763_629_200,
      scopes: valid ? scopes : [],
      granular_scopes: valid
        ? scopes
            .filter((scope) => scope.startsWith('whatsapp_'))
            .map((scope) => ({ scope, target_ids: targets }))
        : [],
      user_id: '122106543210987654',
    },
  };
}

/** Why this id may not be read with the request's token; `null` when it may. */
export function permission(
  { accounts, senders, tokens }: Business,
  request: Request,
  id: string,
): MetaError | null {
  const token = bearerOf(request.headers.authorization);
  if (token === undefined) return noToken();
  const isAccount = accounts.exists(id);
  const sender = isAccount ? null : senders.find(id);
  if (!tokens.isValid(token)) return tokens.refusal(token, 'whatsapp_business_management', id, invalidToken);
  if (!isAccount && !sender) return unknownObject('get', id);
  if (sender?.token !== undefined && sender.token !== token) return invalidToken();
  const wabaId = isAccount ? id : senders.describe(id).wabaId;
  return tokens.refusal(token, 'whatsapp_business_management', wabaId, () => unknownObject('get', id));
}

/** Meta's answer to an id that nobody knows, or that the token must not see. */
export function unknownObject(method: 'get' | 'post', id: string): MetaError {
  return graphError(
    400,
    100,
    `Unsupported ${method} request. Object with ID '${id.slice(0, 64)}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    { type: 'GraphMethodException', subcode: 33 },
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
