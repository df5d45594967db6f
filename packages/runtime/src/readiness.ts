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

const CHECK_MS_MAX = 1_000;
const REASON_LENGTH_MAX = 200;

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
        Object.entries(checks).map(async ([name, check]) => {
          const fault = await faultOf(check);
          return fault === null ? [] : [{ name, reason: reasonOf(fault) }];
        }),
      );
      return results.flat();
    },
    drain() {
      isStopping = true;
    },
  };
}

/** Returns the error of a check, or null if it passed. */
async function faultOf(check: () => Promise<void>): Promise<Error | null> {
  const late = wait(CHECK_MS_MAX, new Error('no response within a second'), { ref: false });
  const answer = (async () => check())().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  return Promise.race([answer, late]);
}

/** Returns the first line of an error's message. Errors of connections to several addresses have no message; then it returns their code. */
function reasonOf(error: NodeJS.ErrnoException): string {
  const [line = ''] = error.message.split('\n');
  const reason = redact(line.trim() === '' ? (error.code ?? error.name) : line.trim());
  return reason.length > REASON_LENGTH_MAX ? `${reason.slice(0, REASON_LENGTH_MAX)}…` : reason;
}

const WATCH_PAUSE_MS = 10_000;
/** The pause while a service is unavailable. */
const FAILED_PAUSE_MS = 1_000;

/**
 * Starts a loop that checks the services of a process, and logs one warning when a service becomes unavailable and one when it is available
 * again. A service is unavailable after two failed checks, because a broken connection is replaced within a second, and often only the new
 * connection reports the cause. If the reason changes later, only readiness shows it.
 *
 * @param services the checks, by the services' display names
 */
export function watchServices(
  log: Logger,
  services: ReadinessChecks,
  pauseMs: number = WATCH_PAUSE_MS,
): Loop {
  /** The services that failed their last check, with the number of failed checks and the time of the first. */
  const failing = new Map<string, { since: number; checks: number }>();
  const checkService = async (name: string, check: () => Promise<void>): Promise<void> => {
    const fault = await faultOf(check);
    const { since, checks } = failing.get(name) ?? { since: performance.now(), checks: 0 };
    if (fault === null) {
      failing.delete(name);
      const seconds = Math.round((performance.now() - since) / 1_000);
      if (checks > 1) log.warn({ service: name, seconds }, 'service available');
    } else {
      failing.set(name, { since, checks: checks + 1 });
      if (checks === 1) log.warn({ service: name, reason: reasonOf(fault) }, 'service unavailable');
    }
  };
  return startLoop(
    async () => {
      await Promise.all(Object.entries(services).map(([name, check]) => checkService(name, check)));
    },
    () => (failing.size > 0 ? FAILED_PAUSE_MS : pauseMs),
    (error) => log.error({ err: error }, 'service check failed'),
  );
}
