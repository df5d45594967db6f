import { setTimeout as wait } from 'node:timers/promises';
import { startLoop, type Loop } from './lifecycle.js';
import { redact, type Logger } from './log.js';
import { RefusedByRedis } from './redis/check.js';

/** What a process needs to be ready, by name. Each check resolves or throws. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>;

/** A check that failed, and why in one line without secrets. */
export interface FailedCheck {
  name: string;
  reason: string;
}

const CHECK_MS_MAX = 1_000;
const REASON_LENGTH_MAX = 200;

/** Runs the checks concurrently. @returns those that failed or took longer than a second */
export async function failedChecks(checks: ReadinessChecks): Promise<FailedCheck[]> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const fault = await faultOf(check);
      return fault === null ? [] : [{ name, reason: reasonOf(fault) }];
    }),
  );
  return results.flat();
}

/** What is wrong, or null. */
async function faultOf(check: () => Promise<void>): Promise<Error | null> {
  const late = wait(CHECK_MS_MAX, new Error('no answer within a second'), { ref: false });
  const answer = (async () => check())().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
  return Promise.race([answer, late]);
}

/** The first line of an error's message, or its code where it has no message, as those of failed connections to several addresses. */
function reasonOf(error: NodeJS.ErrnoException): string {
  const [line = ''] = error.message.split('\n');
  const reason = redact(line.trim() === '' ? (error.code ?? error.name) : line.trim());
  return reason.length > REASON_LENGTH_MAX ? `${reason.slice(0, REASON_LENGTH_MAX)}…` : reason;
}

const WATCH_PAUSE_MS = 5_000;
/** While a service has failed. */
const FAILED_PAUSE_MS = 1_000;

/**
 * Watches the services that a process uses, by the names under which people know them, and logs one warning when one fails and one when
 * it is back. A service that says itself why it cannot be used is believed at once; what else fails has to fail twice, because a
 * connection that breaks is replaced within a second, and only the next one may tell why. Later reasons are readiness's to say.
 */
export function watchServices(
  log: Logger,
  services: ReadinessChecks,
  pauseMs: number = WATCH_PAUSE_MS,
): Loop {
  const failures = new Map<string, { since: number; isLogged: boolean }>();
  const look = async (name: string, check: () => Promise<void>): Promise<void> => {
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
      // Connections open in the background: none of them is late yet.
      if (isFirst) isFirst = false;
      else await Promise.all(Object.entries(services).map(([name, check]) => look(name, check)));
    },
    () => (failures.size > 0 ? FAILED_PAUSE_MS : pauseMs),
    (error) => log.error({ err: error }, 'service check failed'),
  );
}
