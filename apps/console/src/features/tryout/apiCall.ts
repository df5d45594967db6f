import { performance } from 'node:perf_hooks';
import { apiKeyHint } from '@onecode/domain';
import { VERSION } from '@onecode/runtime';
import type { ConsoleConfig } from '../../config.js';
import type { ApiProblemView, CallView } from './view.js';

/** How long the API may take for a whole response. */
const CALL_MS_MAX = 8_000;

interface ApiCall {
  method: 'GET' | 'POST';
  path: string;
  key: string;
  idempotencyKey?: string;
  body?: Record<string, string | undefined>;
  /** The texts that replace members of the body when the request is shown. */
  hidden?: Record<string, string>;
}

/** The members of a JSON object. */
type Members = Readonly<Record<string, unknown>>;

/**
 * Calls the API once, without following redirects. The result shows a hint instead of the key; the API's responses contain neither
 * numbers nor codes.
 *
 * @returns what the page shows, and the members of a successful response
 */
export async function callApi(
  { API_URL, BASE_URL }: Pick<ConsoleConfig, 'API_URL' | 'BASE_URL'>,
  { method, path, key, idempotencyKey, body, hidden }: ApiCall,
): Promise<{ call: CallView; success: Members | null }> {
  const headers = {
    Authorization: `Bearer ${key}`,
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    Accept: 'application/json',
    'User-Agent': `onecode-console/${VERSION}`,
  };
  const jsonOf = (members: object | undefined): string | null =>
    body === undefined ? null : JSON.stringify({ ...body, ...members });
  const shown = (line: string, all: Record<string, string>, text: string | null): string =>
    [line, ...Object.entries(all).map(([name, value]) => `${name}: ${value}`), '', indented(text ?? '')]
      .join('\n')
      .trimEnd()
      .replaceAll(key, apiKeyHint(key));
  // Shows the host of the public address that callers use, not the one within a private network.
  const { host } = new URL(BASE_URL);
  const request = shown(`${method} ${path} HTTP/1.1`, { Host: host, ...headers }, jsonOf(hidden));
  const beganAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - beganAt);
  try {
    const response = await fetch(API_URL.replace(/\/$/, '') + path, {
      method,
      headers,
      body: jsonOf({}),
      redirect: 'manual',
      signal: AbortSignal.timeout(CALL_MS_MAX),
    });
    const text = await response.text();
    const { status, statusText, ok } = response;
    const answer = shown(`HTTP/1.1 ${status} ${statusText}`, Object.fromEntries(response.headers), text);
    const problem = ok ? null : problemOf(response, membersOf(text));
    return {
      call: { request, answer, fault: null, tookMs: tookMs(), problem },
      success: ok ? membersOf(text) : null,
    };
  } catch (error) {
    const fault = wasSent(error) ? 'unanswered' : 'unreachable';
    return { call: { request, answer: null, fault, tookMs: tookMs(), problem: null }, success: null };
  }
}

/** Formats JSON for reading; returns any other text unchanged. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** After any other error, the request may have been carried out. */
const UNSENT = new Set<unknown>([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const wasSent = (error: unknown): boolean =>
  !UNSENT.has((error as { cause?: { code?: unknown } }).cause?.code);

/** Returns an empty object for a text that is not a JSON object. */
function membersOf(text: string): Members {
  try {
    return Object(JSON.parse(text)) as Members;
  } catch {
    return {};
  }
}

function problemOf({ headers }: Response, { code, detail, type, errors }: Members): ApiProblemView | null {
  if (typeof code !== 'string') return null;
  const retryAfter = headers.get('retry-after');
  return {
    code,
    detail: typeof detail === 'string' ? detail : null,
    fields: Object.keys(Object(errors) as object),
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
    docs: typeof type === 'string' && /^https?:/.test(type) ? type : null,
  };
}
