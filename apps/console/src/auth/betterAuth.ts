import type { Request as ClientRequest } from 'express';
import { APIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { clientAddress } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { ConsoleProblem, type ConsoleProblemCode } from '../http/problem.js';

/** better-auth's answer to a request that it accepted. */
export interface AuthAnswer {
  body: Readonly<Record<string, unknown>>;
  /** `Set-Cookie` lines. */
  cookies: readonly string[];
}

/** Maps better-auth's error codes to the console's problem or to the invalid field that the pages show. */
const PROBLEMS: Readonly<Record<string, ConsoleProblemCode | { errors: Readonly<Record<string, string>> }>> =
  {
    INVALID_EMAIL_OR_PASSWORD: 'wrong_credentials',
    INVALID_PASSWORD: { errors: { password: 'wrong' } },
    INVALID_EMAIL: { errors: { email: 'format' } },
    USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: { errors: { email: 'taken' } },
    // The second of two simultaneous sign-ups with one address fails on the row of the first.
    FAILED_TO_CREATE_USER: { errors: { email: 'taken' } },
    INVALID_CODE: 'wrong_code',
    INVALID_BACKUP_CODE: 'wrong_code',
    INVALID_TWO_FACTOR_COOKIE: 'second_step_over',
    TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: 'second_step_over',
    ACCOUNT_TEMPORARILY_LOCKED: 'too_many_tries',
    TOTP_ALREADY_ENABLED: 'conflict',
    TOTP_NOT_ENABLED: 'conflict',
    TWO_FACTOR_NOT_ENABLED: 'conflict',
    BACKUP_CODES_NOT_ENABLED: 'conflict',
    PASSKEY_NOT_FOUND: 'wrong_passkey',
    AUTHENTICATION_FAILED: 'wrong_passkey',
    CHALLENGE_NOT_FOUND: 'wrong_passkey',
    // better-auth has logged the cause.
    FAILED_TO_VERIFY_REGISTRATION: 'wrong_passkey',
  };

/**
 * Calls one of better-auth's paths with this body, or by GET without one, and the client's headers.
 *
 * @throws ConsoleProblem for a refusal; better-auth's own message is dropped, because it may repeat the user's input
 */
export async function callBetterAuth(
  context: ConsoleContext,
  client: ClientRequest,
  path: string,
  body: object | null,
): Promise<AuthAnswer> {
  const response = await askBetterAuth(context, client, path, body);
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown> | null;
  if (!response.ok) throw problemOf(response.status, answer?.['code']);
  return { body: answer ?? {}, cookies: response.headers.getSetCookie() };
}

/** As `callBetterAuth`, but returns better-auth's response unchanged: a redirect, for pages that a browser opens. */
export function askBetterAuth(
  { config, identity }: ConsoleContext,
  client: ClientRequest,
  path: string,
  body: object | null,
): Promise<Response> {
  const request = new Request(`${config.CONSOLE_URL}/api/auth${path}`, {
    method: body === null ? 'GET' : 'POST',
    headers: headersFor(client.headers),
    ...(body !== null && { body: JSON.stringify(body) }),
  });
  return identity.answer(request, clientAddress(client));
}

/** Checks the password of the signed-in user of the request's session. @throws ConsoleProblem for a wrong one */
export async function checkPassword(
  { identity }: ConsoleContext,
  { headers }: ClientRequest,
  password: string,
): Promise<void> {
  await identity.checkPassword(headersFor(headers), password).catch((error: unknown) => {
    if (!(error instanceof APIError)) throw error;
    throw problemOf(error.statusCode, error.body?.code);
  });
}

/** The maximum length, in characters, of the header that the session stores and the profile page shows. */
const USER_AGENT_MAX = 500;

/** The headers that better-auth reads: cookies, origin and user agent. */
function headersFor(given: ClientRequest['headers']): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  const all = fromNodeHeaders(given);
  for (const name of ['cookie', 'origin', 'user-agent']) {
    const value = all.get(name);
    if (value !== null) headers.set(name, name === 'user-agent' ? value.slice(0, USER_AGENT_MAX) : value);
  }
  return headers;
}

function problemOf(status: number, code: unknown): Error {
  const problem = typeof code === 'string' ? PROBLEMS[code] : undefined;
  if (typeof problem === 'string') return new ConsoleProblem(problem);
  if (problem !== undefined) return new ConsoleProblem('invalid_input', problem);
  if (status === 429) return new ConsoleProblem('rate_limited');
  if (status === 409) return new ConsoleProblem('conflict');
  if (status === 401) return new ConsoleProblem('not_signed_in');
  return status < 500 ? new ConsoleProblem('bad_request') : new Error(`better-auth answered ${status}`);
}
