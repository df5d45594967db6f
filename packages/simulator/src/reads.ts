import { Router, type Request, type Response } from 'express';
import { graphError, isRefusal, json, noToken, refuse, unknownObject, type MetaError } from './answers.js';
import { bearerOf, type Business } from './business.js';
import type {
  BusinessAccountProfile,
  PortfolioState,
  SenderProfile,
  TemplateProfile,
} from './businessStates.js';
import type { Parts } from './parts.js';

type Answer = Record<string, unknown> | MetaError;

/**
 * Graph's reads for a sender: a number, its business account with templates and subscribed apps, and a token's permissions.
 * Source: Meta's OpenAPI for the WhatsApp Business Platform, v23.0.
 */
export function reads(parts: Parts): Router {
  const edges = 'message_templates|phone_numbers|subscribed_apps';
  const path = new RegExp(`^/v\\d+\\.\\d+/(?<id>[^/]+)(?:/(?<edge>${edges}))?/?$`);
  return Router().get(path, (request, response) => serve(parts, request, response));
}

/** Answers a read unless a throttle refuses it. */
function serve({ business, counts, throttles }: Parts, request: Request, response: Response): void {
  counts.reads += 1;
  const id = String(request.params['id']);
  const isAccount = business.isAccount(id);
  const sender = isAccount || id === 'debug_token' ? null : id;
  const wabaId = isAccount ? id : sender === null ? null : business.sender(sender).wabaId;
  const throttled = throttles.take({ sender, recipient: null, wabaId });
  if (throttled) return refuse(response, throttled);
  const answer = read(business, request, id);
  if (isRefusal(answer)) refuse(response, answer);
  else json(response, 200, answer);
}

function read(business: Business, request: Request, id: string): Answer {
  if (id === 'debug_token') return debugToken(business, request);
  const refused = business.refusal('get', id, request.headers.authorization);
  if (refused) return refused;
  const { edge } = request.params;
  const account = business.isAccount(id) ? business.account(id) : null;
  if (account === null && edge !== undefined) return unknownObject('get', id);
  if (account === null)
    return fieldsOf(request, 'WhatsAppBusinessPhoneNumber', id, senderFields(business, business.sender(id)));
  if (edge === undefined) return fieldsOf(request, 'WhatsAppBusinessAccount', id, accountFields(business));
  if (edge === 'subscribed_apps')
    return { data: account.subscribed ? [{ whatsapp_business_api_data: APP }] : [] };
  if (edge === 'phone_numbers') {
    const data = business
      .senders()
      .filter(({ wabaId }) => wabaId === id)
      .map((sender) =>
        fieldsOf(request, 'WhatsAppBusinessPhoneNumber', sender.phoneNumberId, listedFields(sender)),
      );
    return data.find(isRefusal) ?? { data };
  }
  // Like Graph, finds all templates with names that contain the requested one.
  const name = typeof request.query['name'] === 'string' ? request.query['name'] : '';
  const data = business
    .templates(id)
    .filter((template) => template.name.includes(name))
    .map((template) => fieldsOf(request, 'WhatsAppMessageTemplate', template.id, templateFields(template)));
  return data.find(isRefusal) ?? { data };
}

const APP = { id: '634974688087057', name: 'Onecode' };
const PORTFOLIO_ID = '506914307656634';

/** Returns the requested fields as Graph does: in the requested order, without absent values, and with the id. */
function fieldsOf(
  { query: { fields } }: Request,
  type: string,
  id: string,
  known: Readonly<Record<string, unknown>>,
): Answer {
  const asked = typeof fields === 'string' ? fields.split(',') : Object.keys(known);
  const unknown = asked.find((field) => field !== 'id' && !Object.hasOwn(known, field));
  if (unknown !== undefined)
    return graphError(
      400,
      100,
      `(#100) Tried accessing nonexisting field (${unknown.slice(0, 100)}) on node type (${type})`,
    );
  return { ...Object.fromEntries(asked.map((field) => [field, known[field]])), id };
}

/** Source: https://developers.facebook.com/docs/graph-api/reference/whats-app-business-account-to-number-current-status/ */
function senderFields(business: Business, sender: SenderProfile) {
  const { portfolio } = business;
  return {
    quality_rating: sender.qualityRating,
    throughput: { level: sender.throughputLevel },
    is_on_biz_app: sender.isOnBusinessApp,
    status: sender.status,
    whatsapp_business_manager_messaging_limit: portfolio.messagingLimit,
    health_status: {
      entities: [
        entity('PHONE_NUMBER', sender.phoneNumberId, ...senderHealth(sender)),
        entity('WABA', sender.wabaId, ...accountHealth(business.account(sender.wabaId))),
        entity('BUSINESS', PORTFOLIO_ID, ...portfolioHealth(portfolio)),
      ],
    },
  };
}

/** Source: Meta's OpenAPI, `/{WABA-ID}/phone_numbers`. */
function listedFields(sender: SenderProfile) {
  return {
    display_phone_number: `+${sender.displayPhoneNumber}`,
    verified_name: sender.verifiedName,
    code_verification_status: sender.codeVerificationStatus,
    quality_rating: sender.qualityRating,
    status: sender.status,
    throughput: { level: sender.throughputLevel },
    is_on_biz_app: sender.isOnBusinessApp,
  };
}

/** Source: Meta's OpenAPI, `WhatsAppBusinessAccount`. */
function accountFields({ portfolio }: Business) {
  return { business_verification_status: portfolio.verificationStatus };
}

/** Returns one language of a template. Source: Meta's OpenAPI, `/{WABA-ID}/message_templates`. */
function templateFields(template: TemplateProfile) {
  const { name, language, status, category, quality, rejectedReason, ttlSeconds } = template;
  return {
    name,
    language,
    status,
    category,
    quality_score: { score: quality },
    rejected_reason: rejectedReason,
    message_send_ttl_seconds: ttlSeconds ?? undefined,
    components: componentsOf(template),
  };
}

function componentsOf({ codeExpirationMinutes: minutes, otpType }: TemplateProfile) {
  return [
    { type: 'BODY', add_security_recommendation: true },
    ...(minutes === null ? [] : [{ type: 'FOOTER', code_expiration_minutes: minutes }]),
    ...(otpType === null ? [] : [{ type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: otpType }] }]),
  ];
}

/** Returns whether a node can send, and why not. Source: https://developers.facebook.com/docs/whatsapp/cloud-api/health-status */
type Health = [can: 'AVAILABLE' | 'LIMITED' | 'BLOCKED', why?: string];

function entity(type: 'PHONE_NUMBER' | 'WABA' | 'BUSINESS', id: string, ...[can, why]: Health) {
  const errors = why === undefined ? undefined : [{ error_description: why }];
  return { entity_type: type, id, can_send_message: can, errors };
}

function senderHealth({ status }: SenderProfile): Health {
  if (status === 'CONNECTED') return ['AVAILABLE'];
  const can = status === 'RATE_LIMITED' ? 'LIMITED' : 'BLOCKED';
  return [can, `The phone number's status is ${status}.`];
}

function accountHealth({ condition }: BusinessAccountProfile): Health {
  if (condition === 'active') return ['AVAILABLE'];
  if (condition === 'payment_issue') return ['BLOCKED', 'There is an error with the payment method.'];
  return ['BLOCKED', `The WhatsApp Business account is ${condition} for violating a policy.`];
}

function portfolioHealth({ verificationStatus }: PortfolioState): Health {
  if (verificationStatus === 'VERIFIED') return ['AVAILABLE'];
  return ['LIMITED', 'The Business has not passed business verification.'];
}

/** Returns the permissions of the calling token. Source: https://developers.facebook.com/docs/graph-api/reference/debug_token/ */
function debugToken(business: Business, { headers, query }: Request): Answer {
  const token = bearerOf(headers.authorization);
  if (token === undefined) return noToken();
  if (query['input_token'] !== token) return graphError(400, 100, '(#100) Invalid parameter input_token');
  const { isValid, scopes, expiresAt } = business.token(token);
  return {
    data: { app_id: APP.id, is_valid: isValid, scopes: isValid ? scopes : [], expires_at: expiresAt },
  };
}
