import { ConfigError } from './config.js';
import { startLoop, type Loop } from './lifecycle.js';
import type { Logger } from './log.js';

/** Half of the time after which the health page reports a worker's loops as late. */
const REPORT_PAUSE_MS = 5_000;

/** Records in the database that a process is running. */
interface Presence {
  /** Checks the database. @returns why this process cannot work with it, or null */
  check: () => Promise<string | null>;
  /** Checks the database, then records this process. @returns the result of the check */
  report: () => Promise<string | null>;
  end: () => Promise<void>;
}

/** Refuses a database that this process cannot work with. An unavailable database is accepted. @throws ConfigError with the reason */
export async function refuseUnfitDatabase({ check }: Pick<Presence, 'check'>): Promise<void> {
  const fault = await check().catch(() => null);
  if (fault !== null) throw new ConfigError([fault]);
}

/**
 * Records now and every five seconds that this process is running, and records its stop. If the database was unavailable before, it is
 * checked when it becomes available; a process that cannot work with it ends with exit code 1. Call this after the start has succeeded, so
 * that a process that failed to start (for example because its port is in use) is not recorded.
 */
export async function startPresence({ report, end }: Omit<Presence, 'check'>, log: Logger): Promise<Loop> {
  const logFailure = (error: unknown): void => log.debug({ err: error }, 'presence report failed');
  const record = async (): Promise<void> => {
    const fault = await report();
    if (fault === null) return;
    log.fatal({ fault }, 'database schema incompatible');
    process.exit(1);
  };
  await record().catch(logFailure);
  const loop = startLoop(record, REPORT_PAUSE_MS, logFailure);
  return {
    async stop() {
      await loop.stop();
      await end().catch(logFailure);
    },
  };
}
