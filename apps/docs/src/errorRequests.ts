import type { ProblemCode } from '@onecode/domain';

const KEY = 'Authorization: Bearer ak_live_…';
const TYPE = 'Content-Type: application/json';
const ID = '0199c7a2-5b1e-7c3a-9f40-2d6a8e1b4c57';

const creation = (body: string, ...headers: string[]): string =>
  ['POST /v1/send HTTP/1.1', KEY, TYPE, ...headers, '', body].join('\n');

/** The problems that only webhook requests of the provider can get. */
type WebhookProblem = 'forbidden' | 'invalid_signature' | 'payload_too_large' | 'too_busy';

/** For each problem of the API, a request that can get it. Some need earlier requests: a used key, no credits, a limit reached. */
export const ERROR_REQUESTS: Readonly<Record<Exclude<ProblemCode, WebhookProblem>, string>> = {
  missing_credentials: ['POST /v1/send HTTP/1.1', TYPE, '', '{"to":"+447700900123"}'].join('\n'),
  invalid_api_key: [
    'POST /v1/send HTTP/1.1',
    'Authorization: Bearer ak_live_revoked',
    TYPE,
    '',
    '{"to":"+447700900123"}',
  ].join('\n'),
  insufficient_credits: creation('{"to":"+447700900123"}'),
  send_not_found: [`GET /v1/send/${ID}/status HTTP/1.1`, KEY].join('\n'),
  idempotency_key_reused: creation(
    '{"to":"+447700900124"}',
    'Idempotency-Key: 6f1f3c0e-8c39-4a57-bb5e-0d1f3b0c9a2e',
  ),
  invalid_json: creation('{"to":"+447700900123","channel":"sms"}'),
  invalid_recipient: creation('{"to":"07700 900123"}'),
  channel_unavailable: creation('{"to":"ana@example.com"}'),
  invalid_code: creation('{"to":"+447700900123","code":"12"}'),
  invalid_locale: creation('{"to":"+447700900123","locale":"fr"}'),
  invalid_idempotency_key: creation('{"to":"+447700900123"}', `Idempotency-Key: ${'k'.repeat(256)}`),
  rate_limited: creation('{"to":"+447700900123"}'),
  internal_error: creation('{"to":"+447700900123"}'),
  not_found: ['POST /send HTTP/1.1', KEY, TYPE, '', '{"to":"+447700900123"}'].join('\n'),
  method_not_allowed: ['GET /v1/send HTTP/1.1', KEY].join('\n'),
  bad_request: ['GET /v1/signup-settings HTTP/1.1', 'Host: one.example', 'Host: another.example'].join('\n'),
  request_timeout: ['POST /v1/send HTTP/1.1', KEY, TYPE, 'Content-Length: 22', '', '{"to":'].join('\n'),
  headers_too_large: ['GET /v1/signup-settings HTTP/1.1', `Cookie: session=${'x'.repeat(40)}… (20 kB)`].join(
    '\n',
  ),
};
