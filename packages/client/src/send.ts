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

/** The outcome of a try that returned no send. */
interface Failure {
  error: ProblemError | ConnectionError;
  /** The wait before the next try; null if there is none. */
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
    // The process may have been suspended: the caller no longer expects a send.
    if (left() <= 0) throw result.error;
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
 * Whether a try with this status should be retried, because its outcome is unknown or the fault is temporary. A success without a send was
 * cut off or is not from the service; 502 and above come from proxies.
 */
const isOpen = (status: number): boolean =>
  [408, 425, 500].includes(status) || status >= 502 || (status >= 200 && status < 300);

/** Half a second, doubled after each try. Half of it is random, so that callers that failed together do not retry together. */
function growingWaitMs(tries: number): number {
  const ms = Math.min(FIRST_WAIT_MS * 2 ** (tries - 1), WAIT_MS_MAX);
  return ms / 2 + (Math.random() * ms) / 2;
}

function limitWaitMs(retryAfterSeconds: number | undefined): number | null {
  if (retryAfterSeconds === undefined || retryAfterSeconds > RETRY_AFTER_SECONDS_MAX) return null;
  return retryAfterSeconds * 1000 + Math.random() * (FIRST_WAIT_MS / 2);
}

/**
 * Returns the body, with the same bytes for the same input in any order of its fields. Unknown fields are kept, so that the service refuses
 * them.
 */
function bodyOf(input: CreateSend): string {
  if (typeof input !== 'object' || input === null) throw new OnecodeError('send needs { to }.');
  const { to, code, locale, ...others } = input;
  return JSON.stringify({ to, code, locale, ...others });
}

/** An empty key would count as none, so each retry would be a new send. */
function resolveIdempotencyKey(key: string | undefined): string {
  if (key === undefined || key === null) return crypto.randomUUID();
  // oxlint-disable-next-line no-control-regex -- characters that a header cannot contain
  if (typeof key !== 'string' || /[\x00-\x08\x0a-\x1f\x7f]/.test(key))
    throw new OnecodeError('idempotencyKey is not a single line of text.');
  return /^[ \t]*$/.test(key) ? crypto.randomUUID() : key;
}

/** Header text has one character for each byte. The contract counts the bytes of UTF-8. */
const headerValue = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
