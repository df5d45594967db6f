import type { Request as ClientRequest } from 'express';
import { APIError } from 'better-auth/api';
import { fromNodeHeaders } from 'better-auth/node';
import { clientAddress } from '../http/clientAddress.js';
import type { ConsoleContext } from '../context.js';
import { ConsoleProblem, type ConsoleProblemCode } from '../http/problem.js';

/** What better-auth says to a request that it did. */
export interface AuthAnswer {
  body: Readonly<Record<string, unknown>>;
  /** `Set-Cookie` lines. */
  cookies: readonly string[];
}

/** Words of better-auth for which the pages have sentences, or a field to show them at. */
const REFUSALS: Readonly<Record<string, ConsoleProblemCode | { errors: Readonly<Record<string, string>> }>> =
  {
    INVALID_EMAIL_OR_PASSWORD: 'wrong_credentials',
    INVALID_PASSWORD: { errors: { password: 'wrong' } },
    INVALID_EMAIL: { errors: { email: 'format' } },
    USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: { errors: { email: 'taken' } },
    // Two at once: the second meets the first one's row.
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
  };

/**
 * Asks better-auth at one of its paths, with the headers of the client's request and this body.
 *
 * @throws ConsoleProblem for a refusal; its own words, which may repeat what was typed, go no further
 */
export async function askBetterAuth(
  { config, identity }: ConsoleContext,
  client: ClientRequest,
  path: string,
  body: object,
): Promise<AuthAnswer> {
  const asked = new Request(`${config.CONSOLE_URL}/api/auth${path}`, {
    method: 'POST',
    headers: headersFor(client.headers),
    body: JSON.stringify(body),
  });
  const response = await identity.answer(asked, clientAddress(client));
  const answer = (await response.json().catch(() => ({}))) as Record<string, unknown> | null;
  if (!response.ok) throw refusalOf(response.status, answer?.['code']);
  return { body: answer ?? {}, cookies: response.headers.getSetCookie() };
}

/**
 * Whether this is the password of the person whose session the request brings.
 *
 * @throws ConsoleProblem for a wrong one, as for the other refusals
 */
export async function askForPassword(
  { identity }: ConsoleContext,
  { headers }: ClientRequest,
  password: string,
): Promise<void> {
  await identity.checkPassword(headersFor(headers), password).catch((error: unknown) => {
    if (!(error instanceof APIError)) throw error;
    throw refusalOf(error.statusCode, error.body?.code);
  });
}

/** It is kept with the session, and shown. */
const USER_AGENT_MAX = 500;

/** What better-auth looks at: the cookies, where the request came from, and which program sent it. */
function headersFor(given: ClientRequest['headers']): Headers {
  const headers = new Headers({ 'content-type': 'application/json' });
  const all = fromNodeHeaders(given);
  for (const name of ['cookie', 'origin', 'user-agent']) {
    const value = all.get(name);
    if (value !== null) headers.set(name, name === 'user-agent' ? value.slice(0, USER_AGENT_MAX) : value);
  }
  return headers;
}

function refusalOf(status: number, word: unknown): Error {
  const refusal = typeof word === 'string' ? REFUSALS[word] : undefined;
  if (typeof refusal === 'string') return new ConsoleProblem(refusal);
  if (refusal !== undefined) return new ConsoleProblem('invalid_input', refusal);
  if (status === 429) return new ConsoleProblem('rate_limited');
  if (status === 409) return new ConsoleProblem('conflict');
  if (status === 401) return new ConsoleProblem('not_signed_in');
  return status < 500 ? new ConsoleProblem('bad_request') : new Error(`better-auth answered ${status}`);
}
