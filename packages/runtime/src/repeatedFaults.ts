import { describeError, type Logger } from './log.js';

const PAUSE_MS = 60_000;

/** Returns a function that logs errors without repetition: the first one immediately, and equal ones once a minute with their count. */
export function repeatedFaults(
  log: Logger,
  level: 'warn' | 'error',
  message: string,
  facts: Readonly<Record<string, string>> = {},
  pauseMs = PAUSE_MS,
): (error: unknown) => void {
  /** How often each fault has occurred since its last log line. */
  const counts = new Map<string, number>();
  return (error) => {
    const fault = faultOf(error);
    const count = counts.get(fault);
    counts.set(fault, count === undefined ? 0 : count + 1);
    if (count !== undefined) return;
    log[level]({ ...facts, err: error }, message);
    const timer = setInterval(() => {
      const times = counts.get(fault);
      if (times === 0) {
        counts.delete(fault);
        clearInterval(timer);
        return;
      }
      counts.set(fault, 0);
      log[level]({ ...facts, err: error, times }, message);
    }, pauseMs);
    timer.unref();
  };
}

/** Returns a key that is equal for the same fault: the logged form of the error without its stack. */
function faultOf(error: unknown): string {
  return JSON.stringify(describeError(error), (key, value: unknown) => (key === 'at' ? undefined : value));
}
