import { ConfigError, wholeNumber } from './config.js';
import { keepHeapSmall } from './heap.js';
import { redact, type Logger } from './log.js';
import { repeatedFaults } from './repeatedFaults.js';

export interface Running {
  log: Logger;
  /** From now on the process says that it is not ready. It still takes work. */
  drain?: () => void;
  /** How long it still takes work after `drain`, before it stops. */
  shutdownDelayMs?: number;
  /** Takes no more work, finishes or releases the work under way, and closes everything. */
  stop: () => Promise<void>;
}

/** How long a process listens after SIGTERM, so that whoever sends requests to it learns that it is going. Supervisors must wait as much longer. */
export const SHUTDOWN_DELAY_MS = wholeNumber(0, 300_000, 0);

/** A longer stop is cut short: supervisors kill a process ten seconds after SIGTERM and its shutdown delay. */
const STOP_MS_MAX = 9_000;

/**
 * Runs a process. An invalid configuration or a failed start ends it with one line for each fault and exit code 1. SIGTERM and SIGINT
 * stop it gracefully, after its shutdown delay, with exit code 0. An uncaught error ends it with exit code 1, because the state that it leaves is unknown.
 */
export async function runProcess(name: string, start: () => Promise<Running>): Promise<void> {
  keepHeapSmall();
  let running: Running;
  let pendingSignal: NodeJS.Signals | null = null;
  let onSignal = (signal: NodeJS.Signals): void => {
    pendingSignal = signal;
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => onSignal(signal));

  try {
    running = await start();
  } catch (error) {
    const lines = error instanceof ConfigError ? error.faults : [startFault(error)];
    for (const line of lines) process.stderr.write(`${name}: ${line}\n`);
    process.exit(1);
  }
  const { log, drain, shutdownDelayMs = 0, stop } = running;

  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error');
    process.exit(1);
  });

  const stopNow = (): void => {
    const timer = setTimeout(() => {
      log.warn('stop timed out');
      process.exit(0);
    }, STOP_MS_MAX);
    stop().then(
      () => {
        clearTimeout(timer);
        log.info('stopped');
        process.exit(0);
      },
      (error: unknown) => {
        log.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  };
  let stopping = false;
  onSignal = (signal) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal, ...(shutdownDelayMs > 0 && { delay_ms: shutdownDelayMs }) }, 'stopping');
    drain?.();
    if (shutdownDelayMs > 0) setTimeout(stopNow, shutdownDelayMs);
    else stopNow();
  };
  if (pendingSignal !== null) onSignal(pendingSignal);
}

function startFault(error: unknown): string {
  const fault = error as NodeJS.ErrnoException & { port?: number; address?: string; hostname?: string };
  if (fault.code === 'EADDRINUSE') return `port ${fault.port ?? ''} is in use`;
  if (fault.code === 'EACCES' && fault.port !== undefined)
    return `port ${fault.port} may not be used by this user`;
  if (fault.code === 'EADDRNOTAVAIL') return `this machine has no address ${fault.address ?? ''}`;
  if (fault.code === 'ENOTFOUND') return `the host name ${fault.hostname ?? ''} stands for no address`;
  const message = error instanceof Error ? error.message : String(error);
  return `could not start: ${redact(message).trim().replaceAll(/\s+/g, ' ')}`;
}

/** Repeats work, with a pause between its rounds, until stopped. Rounds never overlap. */
export interface Loop {
  stop(): Promise<void>;
}

/** Starts a loop, which continues after a round that fails. @param pauseMs between the end of a round and the start of the next */
export function startLoop(
  round: () => Promise<void>,
  pauseMs: number | (() => number),
  onError: (error: unknown) => void,
): Loop {
  let stopped = false;
  let wake = (): void => {};
  const ended = (async () => {
    while (!stopped) {
      try {
        await round();
      } catch (error) {
        onError(error);
      }
      if (stopped) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, typeof pauseMs === 'number' ? pauseMs : pauseMs());
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    async stop() {
      stopped = true;
      wake();
      await ended;
    },
  };
}

/**
 * Starts a loop that writes what was collected, and does so once more when it stops.
 *
 * @param flush keeps what it cannot write for the next round
 * @param message what the log says then
 */
export function startFlushLoop(
  log: Logger,
  flush: () => Promise<void>,
  pauseMs: number,
  message: string,
): Loop {
  const onError = repeatedFaults(log, 'warn', message);
  const loop = startLoop(flush, pauseMs, onError);
  return {
    async stop() {
      await loop.stop();
      await flush().catch(onError);
    },
  };
}
