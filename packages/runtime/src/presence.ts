import { ConfigError } from './config.js';
import { startLoop, type Loop } from './lifecycle.js';
import type { Logger } from './log.js';

const ALERT_PAUSE_MS = 10_000;

/** How a process tells the others that it runs. */
interface Presence {
  /** @returns why this process cannot work with the database, or null */
  check: () => Promise<string | null>;
  /** Checks at first. @returns the same */
  report: () => Promise<string | null>;
  end: () => Promise<void>;
}

/** Looks whether this process may run; nobody can say while the database is away. @throws ConfigError when it may not */
export async function refuseUnfitDatabase({ check }: Pick<Presence, 'check'>): Promise<void> {
  const fault = await check().catch(() => null);
  if (fault !== null) throw new ConfigError([fault]);
}

/**
 * Tells every ten seconds that this process runs, and when it stops. While the database is away it tells nobody; the first time that it is
 * there decides whether the process may run. For a process that has started: one that could not, as with a port that is taken, never ran.
 *
 * @throws ConfigError when it may not; later, the process ends with exit code 1
 */
export async function startPresence({ report, end }: Omit<Presence, 'check'>, log: Logger): Promise<Loop> {
  const logFailure = (error: unknown): null => {
    log.debug({ err: error }, 'presence report failed');
    return null;
  };
  const fault = await report().catch(logFailure);
  if (fault !== null) throw new ConfigError([fault]);
  let isFirst = true;
  const loop = startLoop(
    async () => {
      const later = isFirst ? null : await report();
      isFirst = false;
      if (later === null) return;
      log.fatal({ fault: later }, 'database schema incompatible');
      process.exit(1);
    },
    ALERT_PAUSE_MS,
    logFailure,
  );
  return {
    async stop() {
      await loop.stop();
      await end().catch(logFailure);
    },
  };
}
