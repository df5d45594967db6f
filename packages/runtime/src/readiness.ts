import { setTimeout as wait } from 'node:timers/promises';
import { startLoop } from './loop.js';
import { faultLine, type Logger } from './log.js';

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
  /** Makes the process report that it is stopping, and stops watching its services. */
  drain(): void;
}

/**
 * Creates the readiness of a process, and watches its services: logs one warning when a service becomes unavailable and one when it is
 * available again. If the reason changes later, only readiness shows it.
 *
 * @param required services, by name: without them the process is not ready
 * @param optional services, which are only watched
 */
export function createReadiness(
  log: Logger,
  required: ReadinessChecks,
  optional: ReadinessChecks = {},
  watchPauseMs = WATCH_PAUSE_MS,
): Readiness {
  let isStopping = false;
  const loops = Object.entries({ ...required, ...optional }).map(([service, check]) =>
    startLoop(watchService(log, service, check), watchPauseMs, () => {}),
  );
  return {
    async failedChecks() {
      if (isStopping) return [{ name: 'stopping', reason: 'the process is shutting down' }];
      const results = await Promise.all(
        Object.entries(required).map(async ([name, check]) => ({ name, reason: await faultOf(check) })),
      );
      return results.filter((result): result is FailedCheck => result.reason !== null);
    },
    drain() {
      isStopping = true;
      for (const loop of loops) void loop.stop();
    },
  };
}

const WATCH_PAUSE_MS = 5_000;

/**
 * Returns a function that checks a service and logs its failure or recovery. A service is unavailable after two failed checks, because a
 * broken connection is replaced within a second, and often only the new connection reports the cause.
 */
function watchService(log: Logger, service: string, check: () => Promise<void>): () => Promise<void> {
  let failures = 0;
  return async () => {
    const reason = await faultOf(check);
    if (reason === null && failures > 1) log.warn({ service }, 'service available');
    failures = reason === null ? 0 : failures + 1;
    if (failures === 2) log.warn({ service, reason }, 'service unavailable');
  };
}

const CHECK_MS_MAX = 1_000;

/** Runs a check. @returns the fault in one line without secrets, or null if the check passed */
async function faultOf(check: () => Promise<void>): Promise<string | null> {
  const late = wait(CHECK_MS_MAX, 'no response within a second', { ref: false });
  try {
    return await Promise.race([check().then(() => null), late]);
  } catch (error) {
    return faultLine(error);
  }
}
