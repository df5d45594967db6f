import { setTimeout as wait } from 'node:timers/promises';
import { startLoop, type Loop } from './lifecycle.js';
import { redact, type Logger } from './log.js';

/** The checks that a process must pass to be ready, by name. Each check resolves or throws. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** A failed check, with the reason in one line without secrets. */
export interface FailedCheck {
  name: string;
  reason: string;
}

/** Whether a process is ready. */
export interface Readiness {
  /** Runs the checks concurrently. @returns the checks that failed or took longer than a second; `stopping` after `drain` */
  failedChecks(): Promise<FailedCheck[]>;
  /** Makes the process report that it is stopping. */
  drain(): void;
}

export function createReadiness(checks: ReadinessChecks): Readiness {
  let isStopping = false;
  return {
    async failedChecks() {
      if (isStopping) return [{ name: 'stopping', reason: 'the process is shutting down' }];
      const results = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => ({ name, reason: await faultOf(check) })),
      );
      return results.filter((result): result is FailedCheck => result.reason !== null);
    },
    drain() {
      isStopping = true;
    },
  };
}

const CHECK_MS_MAX = 1_000;
const REASON_LENGTH_MAX = 200;

/** Runs a check. @returns the first line of the fault without secrets, or null if the check passed */
async function faultOf(check: () => Promise<void>): Promise<string | null> {
  const late = wait(CHECK_MS_MAX, 'no response within a second', { ref: false });
  try {
    return await Promise.race([check().then(() => null), late]);
  } catch (error) {
    // Errors of connections to several addresses have no message.
    const { message, code, name } = error as NodeJS.ErrnoException;
    const [line = ''] = redact(message.trim() || code || name).split('\n');
    return line.slice(0, REASON_LENGTH_MAX);
  }
}

const WATCH_PAUSE_MS = 5_000;

/**
 * Starts loops that check the services of a process, and log one warning when a service becomes unavailable and one when it is available
 * again. A service is unavailable after two failed checks, because a broken connection is replaced within a second, and often only the new
 * connection reports the cause. If the reason changes later, only readiness shows it.
 *
 * @param services the checks, by the services' display names
 */
export function watchServices(log: Logger, services: ReadinessChecks, pauseMs = WATCH_PAUSE_MS): Loop {
  const loops = Object.entries(services).map(([service, check]) => {
    let failures = 0;
    const watch = async (): Promise<void> => {
      const reason = await faultOf(check);
      if (reason === null && failures > 1) log.warn({ service }, 'service available');
      failures = reason === null ? 0 : failures + 1;
      if (failures === 2) log.warn({ service, reason }, 'service unavailable');
    };
    return startLoop(watch, pauseMs, () => {});
  });
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
