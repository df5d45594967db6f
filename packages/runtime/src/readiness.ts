import { setTimeout as wait } from 'node:timers/promises';
import { startLoop, type Loop } from './lifecycle.js';
import { redact, type Logger } from './log.js';
import { RefusedByRedis } from './redis/check.js';

/** The checks that a process must pass to be ready, by name. Each check resolves or throws. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** A failed check, with the reason in one line without secrets. */
export interface FailedCheck {
  name: string;
  reason: string;
}

const CHECK_MS_MAX = 1_000;
const REASON_LENGTH_MAX = 200;

/** Runs the checks concurrently. @returns the checks that failed or took longer than a second */
export async function failedChecks(checks: ReadinessChecks): Promise<FailedCheck[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const fault = await faultOf(check);
      return fault === null ? [] : [{ name, reason: reasonOf(fault) }];
    }),
  );
  return results.flat();
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

const WATCH_PAUSE_MS = 5_000;
/** The pause while a service is unavailable. */
const FAILED_PAUSE_MS = 1_000;

/**
 * Starts a loop that checks the services of a process, and logs one warning when a service becomes unavailable and one when it is available
 * again. A `RefusedByRedis` is logged immediately. Any other error must occur twice, because a broken connection is replaced within a
 * second, and often only the new connection reports the cause. If the reason changes later, only readiness shows it.
 *
 * @param services the checks, by the services' display names
 */
export function watchServices(
  log: Logger,
  services: ReadinessChecks,
  pauseMs: number = WATCH_PAUSE_MS,
): Loop {
  const failures = new Map<string, { since: number; isLogged: boolean }>();
  const checkService = async (name: string, check: () => Promise<void>): Promise<void> => {
    const fault = await faultOf(check);
    const known = failures.get(name);
    if (fault === null) {
      failures.delete(name);
      if (known?.isLogged !== true) return;
      const seconds = Math.round((performance.now() - known.since) / 1_000);
      log.warn({ service: name, seconds }, 'service available');
      return;
    }
    if (known?.isLogged === true) return;
    const isLogged = known !== undefined || fault instanceof RefusedByRedis;
    failures.set(name, { since: known?.since ?? performance.now(), isLogged });
    if (isLogged) log.warn({ service: name, reason: reasonOf(fault) }, 'service unavailable');
  };
  let isFirst = true;
  return startLoop(
    async () => {
      // Connections open in the background, so a check at the start would be too early.
      if (isFirst) isFirst = false;
      else await Promise.all(Object.entries(services).map(([name, check]) => checkService(name, check)));
    },
    () => (failures.size > 0 ? FAILED_PAUSE_MS : pauseMs),
    (error) => log.error({ err: error }, 'service check failed'),
  );
}
