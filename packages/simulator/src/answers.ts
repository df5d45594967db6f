import { randomBytes } from 'node:crypto';
import type { Response } from 'express';

/**
 * Codes that Meta usually sends with a status other than 400.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
const USUAL_HTTP = new Map([
  ...[0, 190].map((code) => [code, 401] as const),
  ...[10, 200, 368, 130497, 131005, 131031].map((code) => [code, 403] as const),
  [132001, 404],
  ...[3, 131000, 131016, 131045, 131057, 133000, 134102].map((code) => [code, 500] as const),
  ...[2, 133004].map((code) => [code, 503] as const),
]);

/** An error response: HTTP status, optional `Retry-After` seconds, and a body in Meta's form. */
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
      error_user_title?: string;
      error_user_msg?: string;
      fbtrace_id: string;
    };
  };
}

/** An error response in Meta's form, or by a server in front of Meta: a status and a web page. */
export type Refusal = MetaError | { http: number; retryAfter: number | null; body: null };

export function isRefusal<T extends Refusal>(value: object | string | T): value is T {
  return typeof value === 'object' && 'http' in value && 'body' in value;
}

/** Parts of an error response that override the code's usual ones; `retryAfter` in seconds. */
interface ErrorParts {
  details?: string;
  http?: number;
  subcode?: number;
  retryAfter?: number;
}

/** Builds an error of WhatsApp's layer: `(#code) title`, with `error_data`. Meta's text for each code is not imitated. */
export function metaError(code: number, parts: ErrorParts = {}): MetaError {
  const { details = 'Refused by the simulator.', http = USUAL_HTTP.get(code) ?? 400 } = parts;
  return errorOf(http, parts.retryAfter ?? null, {
    message: `(#${code}) ${details}`,
    type: 'OAuthException',
    code,
    error_data: { messaging_product: 'whatsapp', details },
    ...(parts.subcode === undefined ? {} : { error_subcode: parts.subcode }),
  });
}

/** Builds an error of the Graph layer in front of WhatsApp (token, object, path): only a message, no `error_data`. */
export function graphError(
  http: number,
  code: number,
  message: string,
  extra: { type?: string; error_subcode?: number; error_user_title?: string; error_user_msg?: string } = {},
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

/** Builds Meta's answer to an unknown id. */
export function unknownObject(method: 'get' | 'post', id: string): MetaError {
  return graphError(
    400,
    100,
    `Unsupported ${method} request. Object with ID '${id.slice(0, 64)}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
    { type: 'GraphMethodException', error_subcode: 33 },
  );
}

/** Builds Meta's answer to a path that does not exist. */
export const unknownPath = (path: string) =>
  graphError(404, 2500, `Unknown path components: ${path.slice(0, 200)}`);

/** Builds Meta's answer to an unreadable body: truncated, too large, in an unknown encoding, or not JSON. */
export const unreadable = () => graphError(400, 100, 'Invalid parameter: the body could not be read as JSON');

/** Builds one entry of `statuses[].errors` in a `failed` status webhook. */
export function statusError(code: number) {
  const title = 'Failed by the simulator';
  return {
    code,
    title,
    message: title,
    error_data: { details: title },
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

/** Writes an answer without a body. */
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

/** Resets the TCP connection without an answer. */
export function cut(response: Response): void {
  response.socket?.resetAndDestroy();
}
