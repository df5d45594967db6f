import { judgementIn, problemIn, type Answer } from './answers.js';
import { ConnectionError, IndeterminateVerificationError, OnecodeError, ProblemError } from './errors.js';
import type { Signal } from './fetch.js';
import { sendPath } from './reads.js';
import { throwIfAborted } from './timeLimit.js';
import type { Exchange } from './transport.js';
import type { VerifyResult } from './types.js';

/** Verifies a code with one request. */
export async function verifyCode(
  exchange: Exchange,
  id: string,
  code: string,
  signal: Signal | undefined,
): Promise<VerifyResult> {
  const path = `${sendPath(id)}/verify`;
  // A number would have lost its leading zeros.
  if (typeof code !== 'string') throw new OnecodeError('The code is not a string.');
  throwIfAborted(signal);
  const answer = await judged(exchange, { id, path, code }, signal);
  const result = judgementIn(answer);
  if (result !== null) return result;
  const problem = problemIn(answer);
  const { status, requestId, retryAfterSeconds } = answer;
  // A problem below 500 means that the code was not checked.
  if (problem !== null && status < 500) throw new ProblemError(problem, { requestId, retryAfterSeconds });
  throw new IndeterminateVerificationError(
    id,
    problem === null ? `an answer with ${status} that is no judgement` : `${problem.code} (${status})`,
    { status, requestId },
  );
}

async function judged(
  exchange: Exchange,
  { id, path, code }: { id: string; path: string; code: string },
  signal: Signal | undefined,
): Promise<Answer> {
  try {
    const body = JSON.stringify({ code });
    return await exchange({ method: 'POST', path, route: '/v1/send/{id}/verify', body, once: true }, signal);
  } catch (error) {
    // Nothing was sent.
    if (error instanceof ConnectionError && error.cause !== undefined) throw error;
    if (error instanceof ConnectionError)
      throw new IndeterminateVerificationError(id, error.message, { status: error.status });
    throw new IndeterminateVerificationError(id, 'the verification was aborted', {}, { cause: error });
  }
}
