import { problemIn, sendIn, type Answer } from './answers.js';
import type { CreateSend, Send } from './contract.js';
import { ConnectionError, OnecodeError, ProblemError } from './errors.js';
import type { CallLimits } from './options.js';
import { pause } from './timeLimit.js';
import type { Exchange } from './transport.js';
import type { SendOptions } from './types.js';

const RETRY_AFTER_SECONDS_MAX = 30;
const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 10_000;

/** What a try came to, when it came to no send. */
interface Failure {
  error: ProblemError | ConnectionError;
  /** How long to wait before the next try, or null when there is none. */
  nextTryMs: (tries: number) => number | null;
}

/** Creates a send, with one key and one body for all tries. */
export async function createSend(
  exchange: Exchange,
  { maxRetries, deadlineMs }: CallLimits,
  input: CreateSend,
  { idempotencyKey: givenKey, signal }: SendOptions = {},
): Promise<Send> {
  const body = bodyOf(input);
  const idempotencyKey = resolveIdempotencyKey(givenKey);
  const headers = { 'idempotency-key': headerValue(idempotencyKey) };
  const request = { method: 'POST', path: '/v1/send', route: '/v1/send', headers, body } as const;
  const endMs = performance.now() + deadlineMs;
  const left = (): number => Math.ceil(endMs - performance.now());
  for (let tries = 1; ; tries++) {
    const result = await tryOnce(() => exchange({ ...request, leftMs: left() }, signal), idempotencyKey);
    if (!('error' in result)) return result;
    const waitMs = tries > maxRetries ? null : result.nextTryMs(tries);
    if (waitMs === null || waitMs >= left()) throw result.error;
    await pause(waitMs, signal);
  }
}

async function tryOnce(request: () => Promise<Answer>, idempotencyKey: string): Promise<Send | Failure> {
  try {
    const answer = await request();
    return sendIn(answer, 202) ?? failureOf(answer, idempotencyKey);
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return {
      error: new ConnectionError(error.message, { status: error.status, idempotencyKey }),
      nextTryMs: growingWaitMs,
    };
  }
}

function failureOf(answer: Answer, idempotencyKey: string): Failure {
  const { status, requestId, retryAfterSeconds } = answer;
  const facts = { status, requestId, retryAfterSeconds, idempotencyKey };
  const problem = problemIn(answer);
  const error =
    problem === null
      ? new ConnectionError(`POST /v1/send: an answer with ${status} that is not the service's`, facts)
      : new ProblemError(problem, facts);
  if (isOpen(status)) return { error, nextTryMs: growingWaitMs };
  if (status === 429) return { error, nextTryMs: () => limitWaitMs(retryAfterSeconds) };
  return { error, nextTryMs: () => null };
}

/**
 * Whether the outcome is unknown or passing after this status of what is no send: the same key and body find out. A success was cut off,
 * or something else answered in the service's place; from 502 on are the statuses of proxies.
 */
const isOpen = (status: number): boolean =>
  [408, 425, 500].includes(status) || status >= 502 || (status >= 200 && status < 300);

/** Half a second, doubled after each try, of which the second half is random: callers that failed together do not return together. */
function growingWaitMs(tries: number): number {
  const ms = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), WAIT_MS_MAX);
  return ms / 2 + (Math.random() * ms) / 2;
}

function limitWaitMs(retryAfterSeconds: number | undefined): number | null {
  if (retryAfterSeconds === undefined || retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) return null;
  return retryAfterSeconds * 1000 + Math.random() * (FIRST_WAIT_MS / 2);
}

/**
 * The body, the same bytes for the same input in whatever order its fields came. What the contract does not know goes along, so that
 * the service refuses it.
 */
function bodyOf(input: CreateSend): string {
  if (typeof input !== 'object' || input === null) throw new OnecodeError('send needs { to }.');
  const { to, code, locale, ...others } = input;
  return JSON.stringify({ to, code, locale, ...others });
}

/** An empty key would count as none, and make repeats into further sends. */
function resolveIdempotencyKey(key: string | undefined): string {
  if (key === undefined || key === null) return crypto.randomUUID();
  // oxlint-disable-next-line no-control-regex -- what a header cannot hold
  if (typeof key !== 'string' || /[\x00-\x08\x0a-\x1f\x7f]/.test(key))
    throw new OnecodeError('idempotencyKey is not a text of one line.');
  return /^[ \t]*$/.test(key) ? crypto.randomUUID() : key;
}

/** A header's text has one character for each byte: those of UTF-8, which the contract counts. */
const headerValue = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
