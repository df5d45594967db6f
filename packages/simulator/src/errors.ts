import { randomBytes } from 'node:crypto';

/** What the simulator knows of a Meta error code: the usual HTTP status, its title, and the `details` text where one is known. */
interface KnownError {
  http: number;
  title: string;
  details?: string;
}

const E = (http: number, title: string, details?: string): KnownError =>
  details === undefined ? { http, title } : { http, title, details };

/**
 * The codes that a message send can meet, with Meta's titles.
 * Source: https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
 */
const KNOWN: Readonly<Record<number, KnownError>> = {
  0: E(401, 'AuthException'),
  1: E(400, 'API Unknown'),
  2: E(503, 'API Service'),
  3: E(500, 'API Method'),
  4: E(400, 'API Too Many Calls'),
  10: E(403, 'Permission Denied'),
  33: E(400, 'Parameter value is not valid'),
  100: E(400, 'Invalid parameter'),
  190: E(401, 'Access token has expired'),
  200: E(403, 'API Permission'),
  368: E(403, 'Temporarily blocked for policies violations'),
  80007: E(400, 'Rate limit issues'),
  130403: E(400, 'Business has blocked the end user'),
  130429: E(400, 'Rate limit hit', 'Cloud API message throughput has been reached.'),
  130472: E(400, "User's number is part of an experiment"),
  130497: E(403, 'Business account is restricted from messaging users in this country.'),
  131000: E(500, 'Something went wrong'),
  131005: E(403, 'Access denied'),
  131008: E(400, 'Required parameter is missing'),
  131009: E(400, 'Parameter value is not valid'),
  131016: E(500, 'Service unavailable'),
  131021: E(400, 'Recipient cannot be sender'),
  131026: E(400, 'Message undeliverable', 'Message Undeliverable.'),
  131030: E(400, 'Recipient phone number not in allowed list'),
  131031: E(403, 'Account has been locked'),
  131037: E(400, 'Display name approval needed'),
  131042: E(400, 'Business eligibility payment issue'),
  131045: E(500, 'Incorrect certificate'),
  131047: E(400, 'Re-engagement message', 'More than 24 hours have passed since the recipient last replied.'),
  131048: E(400, 'Spam rate limit hit'),
  131049: E(
    400,
    'This message was not delivered to maintain healthy ecosystem engagement.',
    'In order to maintain a healthy ecosystem engagement, the message failed to be delivered.',
  ),
  131051: E(400, 'Unsupported message type'),
  131055: E(400, 'Method not allowed'),
  131056: E(
    400,
    '(Business Account, Consumer Account) pair rate limit hit',
    'Message failed to send because there were too many messages sent from this phone number to the same phone number in a short period of time.',
  ),
  131057: E(500, 'Account in maintenance mode'),
  132000: E(400, 'Number of parameters does not match the expected number of params'),
  132001: E(404, 'Template name does not exist in the translation'),
  132005: E(400, 'Translated text too long'),
  132007: E(400, 'Template format character policy violated'),
  132012: E(400, 'Parameter format does not match format in the created template'),
  132015: E(400, 'Template is paused'),
  132016: E(400, 'Template is disabled'),
  132018: E(400, 'There was an issue with the parameters in your template'),
  133000: E(500, 'Incomplete Deregistration'),
  133004: E(503, 'Server Temporarily Unavailable'),
  133006: E(400, 'Phone number re-verification needed'),
  133010: E(400, 'Phone number Not Registered'),
  133016: E(400, 'Account register deregister rate limit exceeded'),
  134101: E(400, 'Your template is still syncing'),
  134102: E(500, 'Template unavailable for use'),
  135000: E(400, 'Generic user error'),
  137000: E(400, "The recipient's identity has changed", 'recipient_identity_key_hash does not match.'),
};

/** An answer that refuses a request: HTTP status, optional `Retry-After` seconds, and a body in Meta's form. */
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

/** The parts of a refusal that may differ from what the code usually carries. */
export interface ErrorParts {
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
  const known = KNOWN[code];
  const title = parts.message ?? known?.title ?? 'Unknown error';
  return {
    http: parts.http ?? known?.http ?? 400,
    retryAfter: parts.retryAfter ?? null,
    body: {
      error: {
        message: `(#${code}) ${title}`,
        type: 'OAuthException',
        code,
        error_data: { messaging_product: 'whatsapp', details: parts.details ?? known?.details ?? title },
        ...(parts.subcode === undefined ? {} : { error_subcode: parts.subcode }),
        fbtrace_id: traceId(),
      },
    },
  };
}

/** A refusal of the Graph layer in front of WhatsApp (token, object, path): a bare message and no `error_data`. */
export function graphError(
  http: number,
  code: number,
  message: string,
  extra: { type?: string; subcode?: number } = {},
): MetaError {
  return {
    http,
    retryAfter: null,
    body: {
      error: {
        message,
        type: extra.type ?? 'OAuthException',
        code,
        ...(extra.subcode === undefined ? {} : { error_subcode: extra.subcode }),
        fbtrace_id: traceId(),
      },
    },
  };
}

/** One entry of `statuses[].errors` in a `failed` status webhook. */
export function statusError(code: number) {
  const title = KNOWN[code]?.title ?? 'Unknown error';
  return {
    code,
    title,
    message: title,
    error_data: { details: KNOWN[code]?.details ?? title },
    href: 'https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes',
  };
}

function traceId(): string {
  return `A${randomBytes(16).toString('base64url')}`;
}
