import { randomBytes } from 'node:crypto';
import type { Response } from 'express';

/**
 * The codes that a message send can meet: the usual HTTP status, Meta's title, and the `details` where they are known.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
const KNOWN: Readonly<Record<number, readonly [http: number, title: string, details?: string]>> = {
  0: [401, 'AuthException'],
  1: [400, 'API Unknown'],
  2: [503, 'API Service'],
  3: [500, 'API Method'],
  4: [400, 'API Too Many Calls'],
  10: [403, 'Permission Denied'],
  33: [400, 'Parameter value is not valid'],
  100: [400, 'Invalid parameter'],
  190: [401, 'Access token has expired'],
  200: [403, 'API Permission'],
  368: [403, 'Temporarily blocked for policies violations'],
  80007: [400, 'Rate limit issues'],
  130403: [400, 'Business has blocked the end user'],
  130429: [400, 'Rate limit hit', 'Cloud API message throughput has been reached.'],
  130472: [400, "User's number is part of an experiment"],
  130497: [403, 'Business account is restricted from messaging users in this country.'],
  131000: [500, 'Something went wrong'],
  131005: [403, 'Access denied'],
  131008: [400, 'Required parameter is missing'],
  131009: [400, 'Parameter value is not valid'],
  131016: [500, 'Service unavailable'],
  131021: [400, 'Recipient cannot be sender'],
  131026: [400, 'Message undeliverable', 'Message Undeliverable.'],
  131030: [400, 'Recipient phone number not in allowed list'],
  131031: [403, 'Account has been locked'],
  131037: [400, 'Display name approval needed'],
  131042: [400, 'Business eligibility payment issue'],
  131045: [500, 'Incorrect certificate'],
  131047: [400, 'Re-engagement message', 'More than 24 hours have passed since the recipient last replied.'],
  131048: [400, 'Spam rate limit hit'],
  131049: [
    400,
    'This message was not delivered to maintain healthy ecosystem engagement.',
    'In order to maintain a healthy ecosystem engagement, the message failed to be delivered.',
  ],
  131051: [400, 'Unsupported message type'],
  131055: [400, 'Method not allowed'],
  131056: [
    400,
    '(Business Account, Consumer Account) pair rate limit hit',
    'Message failed to send because there were too many messages sent from this phone number to the same phone number in a short period of time.',
  ],
  131057: [500, 'Account in maintenance mode'],
  132000: [400, 'Number of parameters does not match the expected number of params'],
  132001: [404, 'Template name does not exist in the translation'],
  132005: [400, 'Translated text too long'],
  132007: [400, 'Template format character policy violated'],
  132012: [400, 'Parameter format does not match format in the created template'],
  132015: [400, 'Template is paused'],
  132016: [400, 'Template is disabled'],
  132018: [400, 'There was an issue with the parameters in your template'],
  133000: [500, 'Incomplete Deregistration'],
  133004: [503, 'Server Temporarily Unavailable'],
  133006: [400, 'Phone number re-verification needed'],
  133010: [400, 'Phone number Not Registered'],
  133016: [400, 'Account register deregister rate limit exceeded'],
  134101: [400, 'Your template is still syncing'],
  134102: [500, 'Template unavailable for use'],
  135000: [400, 'Generic user error'],
  137000: [400, "The recipient's identity has changed", 'recipient_identity_key_hash does not match.'],
};

/** An answer that refuses a call: HTTP status, optional `Retry-After` seconds, and a body in Meta's form. */
export interface MetaError {
  http: number;
  retryAfter: number | null;
  body: {
    error: {
      message: string;
      type: string;
      code: number;
      error_data?: { messaging_product: 'whatsapp'; details: string };
      error_subcode?: number;
      fbtrace_id: string;
    };
  };
}

/** A refusal in Meta's form, or one by a server in front of Meta: a status and a web page. */
export type Refusal = MetaError | { http: number; retryAfter: number | null; body: null };

export function isRefusal<T extends Refusal>(value: object | string | T): value is T {
  return typeof value === 'object' && 'http' in value && 'body' in value;
}

/** The parts of a refusal that may differ from what the code usually carries. */
interface ErrorParts {
  details?: string;
  /** The whole message after `(#code) `, in place of the code's title. */
  message?: string;
  http?: number;
  subcode?: number;
  /** Seconds. */
  retryAfter?: number;
}

/** A refusal of WhatsApp's own layer: `(#code) title`, with `error_data`. An unknown code comes as HTTP 400. */
export function metaError(code: number, parts: ErrorParts = {}): MetaError {
  const [usualHttp = 400, usualTitle = 'Unknown error', usualDetails] = KNOWN[code] ?? [];
  const title = parts.message ?? usualTitle;
  return errorOf(parts.http ?? usualHttp, parts.retryAfter ?? null, {
    message: `(#${code}) ${title}`,
    type: 'OAuthException',
    code,
    error_data: { messaging_product: 'whatsapp', details: parts.details ?? usualDetails ?? title },
    ...(parts.subcode === undefined ? {} : { error_subcode: parts.subcode }),
  });
}

/** A refusal of the Graph layer in front of WhatsApp (token, object, path): a bare message and no `error_data`. */
export function graphError(
  http: number,
  code: number,
  message: string,
  extra: { type?: string; error_subcode?: number } = {},
): MetaError {
  return errorOf(http, null, { message, type: 'OAuthException', code, ...extra });
}

function errorOf(
  http: number,
  retryAfter: number | null,
  error: Omit<MetaError['body']['error'], 'fbtrace_id'>,
): MetaError {
  const trace = `A${randomBytes(16).toString('base64url')}`;
  return { http, retryAfter, body: { error: { ...error, fbtrace_id: trace } } };
}

export const noToken = () => graphError(401, 190, 'An access token is required to request this resource.');

export const invalidToken = () =>
  graphError(401, 190, 'Invalid OAuth access token - Cannot parse access token');

/** Meta's answer to an id that nobody knows. */
export function unknownObject(method: 'get' | 'post', id: string): MetaError {
  return graphError(
    400,
    100,
    `Unsupported ${method} request. Object with ID '${id.slice(0, 64)}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    { type: 'GraphMethodException', error_subcode: 33 },
  );
}

/** Meta's answer to a path that does not exist. */
export const unknownPath = (path: string) =>
  graphError(404, 2500, `Unknown path components: ${path.slice(0, 200)}`);

/** Meta's answer to a body that cannot be read: cut off, too large, in an encoding of its own, or no JSON. */
export const unreadable = () => graphError(400, 100, 'Invalid parameter: the body could not be read as JSON');

/** One entry of `statuses[].errors` in a `failed` status webhook. */
export function statusError(code: number) {
  const [, title = 'Unknown error', details = title] = KNOWN[code] ?? [];
  return {
    code,
    title,
    message: title,
    error_data: { details },
    href: 'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes',
  };
}

export function refuse(response: Response, { http, retryAfter, body }: Refusal): void {
  if (retryAfter !== null) response.setHeader('Retry-After', retryAfter);
  if (body === null) webPage(response, http);
  else json(response, http, body);
}

export function json(response: Response, http: number, body: unknown): void {
  write(response, http, 'application/json; charset=UTF-8', JSON.stringify(body));
}

export function webPage(response: Response, http: number): void {
  const page = '<!DOCTYPE html><html><body><h1>Sorry, something went wrong.</h1></body></html>';
  write(response, http, 'text/html; charset=utf-8', page);
}

/** An answer without a body. */
export function nothing(response: Response, http: number): void {
  write(response, http, 'application/json; charset=UTF-8', '');
}

function write(response: Response, http: number, type: string, text: string): void {
  const bytes = Buffer.from(text);
  response.writeHead(http, {
    'Content-Type': type,
    'Content-Length': bytes.length,
    'Cache-Control': 'private, no-cache, no-store, must-revalidate',
  });
  response.end(bytes);
}

/** A TCP reset, without an answer. */
export function cut(response: Response): void {
  response.socket?.resetAndDestroy();
}
