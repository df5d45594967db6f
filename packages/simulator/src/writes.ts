import express, { Router, type Request, type Response } from 'express';
import { graphError, isRefusal, json, metaError, refuse, type MetaError } from './answers.js';
import type { TemplateProfile, TemplateState } from './businessStates.js';
import { isObject } from './input.js';
import type { Parts } from './parts.js';

type Answer = Record<string, unknown> | MetaError;
type Write = (parts: Parts, nodeId: string, body: Record<string, unknown>) => Answer | Promise<Answer>;

/**
 * Graph's writes that set up a sender: the registration of a number, the subscription of the app, and new or changed templates.
 * Source: Meta's OpenAPI for the WhatsApp Business Platform, v23.0.
 */
export function writes(parts: Parts): Router {
  const router = Router();
  const readBody = express.json({ type: () => true, limit: '64kb' });
  for (const [path, node, write] of [
    ['/register', 'number', register],
    ['/subscribed_apps', 'account', subscribe],
    ['/message_templates', 'account', createTemplate],
    ['', 'template', changeTemplate],
  ] as const)
    router.post(
      new RegExp(`^/v\\d+\\.\\d+/(?<id>[^/]+)${path}/?$`),
      readBody,
      (request: Request, response: Response) => serve(parts, request, response, node, write),
    );
  return router;
}

async function serve(
  parts: Parts,
  request: Request,
  response: Response,
  node: 'number' | 'account' | 'template',
  write: Write,
): Promise<void> {
  const { authorization } = request.headers;
  const id = String(request.params['id']);
  const refused =
    node === 'template'
      ? parts.business.tokenRefusal(authorization)
      : parts.business.refusal('post', id, authorization, node === 'account');
  const body: unknown = request.body;
  const answer = refused ?? (await write(parts, id, isObject(body) ? body : {}));
  if (isRefusal(answer)) refuse(response, answer);
  else json(response, 200, answer);
}

const PIN = /^\d{6}$/;
/** Registrations of a number in 72 hours. */
const REGISTRATIONS_MAX = 10;

async function register(
  { business, counts }: Parts,
  phoneNumberId: string,
  body: Record<string, unknown>,
): Promise<Answer> {
  const { pin, messaging_product: product } = body;
  if (product !== 'whatsapp') return parameterError('The parameter messaging_product is required.');
  if (typeof pin !== 'string' || !PIN.test(pin))
    return parameterError('Invalid PIN format. PIN must be exactly 6 digits');
  const registrations = (counts.registrations.get(phoneNumberId) ?? 0) + 1;
  counts.registrations.set(phoneNumberId, registrations);
  if (registrations > REGISTRATIONS_MAX) return metaError(133016, { details: 'Too many registrations.' });
  const number = business.sender(phoneNumberId);
  if (number.codeVerificationStatus === 'NOT_VERIFIED')
    return metaError(133006, { details: 'Phone number needs to be verified before registering.' });
  if (number.pin !== null && number.pin !== pin)
    return metaError(133005, { details: 'Two-step verification PIN mismatch.' });
  await business.changeSender(phoneNumberId, { registered: true, pin, status: 'CONNECTED' });
  return { success: true };
}

async function subscribe({ business }: Parts, wabaId: string): Promise<Answer> {
  await business.changeAccount(wabaId, { subscribed: true });
  return { success: true };
}

const TEMPLATE_NAME = /^[a-z0-9_]{1,512}$/;
const LANGUAGE = /^[a-z]{2,3}(?:_[A-Z]{2,3})?$/;

async function createTemplate(parts: Parts, wabaId: string, body: Record<string, unknown>): Promise<Answer> {
  const { name, language } = body;
  if (typeof name !== 'string' || !TEMPLATE_NAME.test(name))
    return parameterError('The parameter name is required.');
  if (typeof language !== 'string' || !LANGUAGE.test(language))
    return parameterError('The parameter language is required.');
  const state = templateOf(body);
  if (isRefusal(state)) return state;
  const key = { wabaId, name, language };
  if (parts.business.findTemplate(key) !== null)
    return templateError(
      2388024,
      'Content in This Language Already Exists',
      `There is already content for ${name} in ${language}.`,
    );
  const created = await parts.business.changeTemplate(key, { ...state, status: 'PENDING' }, { silent: true });
  review(parts, created);
  return { id: created.id, status: created.status, category: created.category };
}

async function changeTemplate(
  parts: Parts,
  templateId: string,
  body: Record<string, unknown>,
): Promise<Answer> {
  const template = parts.business.templateById(templateId);
  if (template === null)
    return graphError(400, 100, `Object with ID '${templateId.slice(0, 64)}' does not exist`, {
      error_subcode: 33,
    });
  const state = templateOf({ category: template.category, ...body });
  if (isRefusal(state)) return state;
  const changed = await parts.business.changeTemplate(
    template,
    { ...state, status: 'PENDING' },
    { silent: true },
  );
  review(parts, changed);
  return { success: true };
}

/** Ends the review of a template after the configured time, and posts its webhook. */
function review({ business, settings, timers }: Parts, { wabaId, name, language }: TemplateProfile): void {
  const { reviewMs, review: status } = settings.current;
  const rejectedReason = status === 'REJECTED' ? 'INVALID_FORMAT' : 'NONE';
  const end = async (): Promise<void> => {
    if (await timers.scope.sleep(reviewMs))
      await business.changeTemplate({ wabaId, name, language }, { status, rejectedReason });
  };
  void end();
}

/** Returns the state in a request for an authentication template, or Meta's error. */
function templateOf(
  body: Record<string, unknown>,
): Omit<TemplateState, 'status' | 'quality' | 'rejectedReason'> | MetaError {
  const { category, components, message_send_ttl_seconds: ttl } = body;
  if (String(category).toUpperCase() !== 'AUTHENTICATION')
    return parameterError('Only authentication templates are simulated.');
  const parts = (Array.isArray(components) ? components : []).filter(isObject);
  const find = (type: string) => parts.find((part) => String(part['type']).toUpperCase() === type) ?? {};
  const buttons = find('BUTTONS')['buttons'];
  const button = (Array.isArray(buttons) ? buttons : []).find(isObject);
  const otpType = String(button?.['otp_type']).toUpperCase();
  if (otpType !== 'COPY_CODE' && otpType !== 'ONE_TAP' && otpType !== 'ZERO_TAP')
    return templateError(
      2388072,
      'Message template is incorrect',
      'An authentication template needs a one-time code button.',
    );
  const minutes = find('FOOTER')['code_expiration_minutes'] ?? null;
  if (minutes !== null && !(Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= 90))
    return templateError(
      2388073,
      'Message footer is incorrect',
      'code_expiration_minutes must be from 1 to 90.',
    );
  if (ttl !== undefined && ttl !== -1 && !(Number.isInteger(ttl) && Number(ttl) >= 30 && Number(ttl) <= 900))
    return parameterError('message_send_ttl_seconds must be from 30 to 900.');
  return {
    category: 'AUTHENTICATION',
    ttlSeconds: typeof ttl === 'number' ? ttl : null,
    codeExpirationMinutes: minutes as number | null,
    otpType,
  };
}

const parameterError = (message: string): MetaError => graphError(400, 100, `(#100) ${message}`);

function templateError(subcode: number, title: string, text: string): MetaError {
  return graphError(400, 100, 'Invalid parameter', {
    error_subcode: subcode,
    error_user_title: title,
    error_user_msg: text,
  });
}
