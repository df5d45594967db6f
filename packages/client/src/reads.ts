import { problemIn, sendIn, settingsIn, type Answer } from './answers.js';
import type { Send, SignupSettings } from './contract.js';
import { ConnectionError, OnecodeError, ProblemError } from './errors.js';
import type { Signal } from './fetch.js';
import type { Exchange } from './transport.js';

/** A send, and the server clock at the time of reading, in milliseconds. */
export interface SendReading {
  send: Send;
  dateMs: number | undefined;
}

export async function readSend(
  exchange: Exchange,
  id: string,
  signal: Signal | undefined,
): Promise<SendReading> {
  const route = '/v1/send/{id}/status';
  const answer = await exchange({ method: 'GET', path: `${sendPath(id)}/status`, route }, signal);
  return { send: sendIn(answer, 200) ?? refuse(answer, route), dateMs: answer.dateMs };
}

export async function readSignupSettings(
  exchange: Exchange,
  signal: Signal | undefined,
): Promise<SignupSettings> {
  const path = '/v1/signup-settings';
  const answer = await exchange({ method: 'GET', path, route: path, anonymous: true }, signal);
  return settingsIn(answer) ?? refuse(answer, path);
}

/**
 * Returns the path of a send. The id is always a single path segment.
 *
 * @throws OnecodeError if it cannot be one
 */
export function sendPath(id: string): string {
  if (typeof id !== 'string' || id === '' || id === '.' || id === '..')
    throw new OnecodeError('This is not the id of a send.');
  try {
    return `/v1/send/${encodeURIComponent(id)}`;
  } catch {
    // The id has half a surrogate pair.
    throw new OnecodeError('This is not the id of a send.');
  }
}

function refuse(answer: Answer, route: string): never {
  const problem = problemIn(answer);
  if (problem !== null) throw new ProblemError(problem, answer);
  throw new ConnectionError(
    `GET ${route}: an answer with ${answer.status} that is not the service's`,
    answer,
  );
}
