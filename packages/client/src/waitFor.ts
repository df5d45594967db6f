import { DELIVERY_STATUSES, type Send } from './contract.js';
import { ConnectionError, OnecodeError, ProblemError } from './errors.js';
import type { SendReading } from './reads.js';
import { pause } from './timeLimit.js';
import type { WaitForOptions } from './types.js';

const FIRST_PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 5_000;
const GROWTH = 1.5;
const RETRY_AFTER_SECONDS_MAX = 30;

/**
 * Reads a send until it has reached `until`, has failed, or its deadline has passed.
 *
 * @param read reads the send once
 * @param failuresMax how many reads in a row may fail while no deadline is known
 */
export async function waitForSend(
  read: () => Promise<SendReading>,
  failuresMax: number,
  options: WaitForOptions,
): Promise<Send> {
  if (typeof options !== 'object' || options === null) throw new OnecodeError('waitFor needs { until }.');
  const { until, signal, onUpdate } = options;
  if (!['sent', 'delivered', 'read'].includes(until))
    throw new OnecodeError('until is not sent, delivered or read.');
  let seen = '';
  let deadlineMs = Infinity;
  let failures = 0;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * GROWTH, PAUSE_MS_MAX)) {
    const reading = await tolerant(read);
    let waitMs = pauseMs;
    if (reading instanceof OnecodeError) {
      failures++;
      const isOver = deadlineMs === Infinity ? failures > failuresMax : performance.now() >= deadlineMs;
      if (isOver) throw reading;
      waitMs = Math.max(waitMs, askedWaitMs(reading));
    } else {
      failures = 0;
      const { send } = reading;
      const text = JSON.stringify(send);
      if (text !== seen) await onUpdate?.(send);
      seen = text;
      // The earliest deadline of all reads: a stopped clock must not keep this loop running.
      deadlineMs = Math.min(deadlineMs, deadlineOf(reading));
      if (isThere(send, until) || performance.now() >= deadlineMs) return send;
    }
    await pause(Math.max(0, Math.min(waitMs, deadlineMs - performance.now())), signal);
  }
}

/** A read, or the error of one that may be retried. */
async function tolerant(
  read: () => Promise<SendReading>,
): Promise<SendReading | ConnectionError | ProblemError> {
  try {
    return await read();
  } catch (error) {
    const isPassing =
      error instanceof ConnectionError ||
      (error instanceof ProblemError &&
        (error.status >= 500 || error.status === 429 || error.status === 408));
    if (!isPassing) throw error;
    return error;
  }
}

const askedWaitMs = ({ retryAfterSeconds = 0 }: ConnectionError | ProblemError): number =>
  Math.min(retryAfterSeconds, RETRY_AFTER_SECONDS_MAX) * 1000;

/** Returns whether the wait is over. */
function isThere({ status, verification }: Send, until: WaitForOptions['until']): boolean {
  if (status === 'failed' || verification === 'expired') return true;
  return DELIVERY_STATUSES.indexOf(status) >= DELIVERY_STATUSES.indexOf(until);
}

/** Returns the code's deadline on this process's monotonic clock, by the server clock if its response had one, else by the local clock. */
const deadlineOf = ({ send, dateMs }: SendReading): number =>
  performance.now() + Date.parse(send.expires_at) - (dateMs ?? Date.now());
