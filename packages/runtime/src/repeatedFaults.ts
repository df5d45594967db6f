import { describeError, type Logger } from './log.js';

const PAUSE_MS = 60_000;

/** Returns a function that logs repeated faults: at once, and then once a minute with how often they came since. */
export function repeatedFaults(
  log: Logger,
  level: 'warn' | 'error',
  message: string,
  facts: Readonly<Record<string, string>> = {},
  pauseMs = PAUSE_MS,
): (error: unknown) => void {
  /** How often each came since its last line. */
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

/** What makes two errors the same fault: all that is logged of them but where they came from. */
function faultOf(error: unknown): string {
  return JSON.stringify(describeError(error), (key, value: unknown) => (key === 'at' ? undefined : value));
}
