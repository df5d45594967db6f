import { setTimeout as delay } from 'node:timers/promises';
import { UserError } from '../user-error.mjs';

const FIRST_PAUSE_MS = 500;
const PAUSE_MS_MAX = 8_000;
/** After a process has run for this time, its next end counts as a new fault and the pauses start again. */
const STABLE_MS = 10_000;
const FAILED_STARTS_MAX = 5;

/**
 * @typedef {import('../processes/processes.mjs').Started} Started
 */

/**
 * Restarts processes that end unexpectedly, each after a pause that doubles while it keeps ending quickly. After five failed restarts in a
 * row, a process is not restarted any more.
 */
export class Supervisor {
  #signal;
  #log;
  #giveUp;
  #firstPauseMs;

  /**
   * @param {object} options
   * @param {AbortSignal} options.signal ends the supervision
   * @param {(line: string) => void} options.log
   * @param {(error: UserError) => void} options.giveUp
   * @param {number} [options.firstPauseMs] before a process starts again; it doubles
   */
  constructor({ signal, log, giveUp, firstPauseMs = FIRST_PAUSE_MS }) {
    this.#signal = signal;
    this.#log = log;
    this.#giveUp = giveUp;
    this.#firstPauseMs = firstPauseMs;
  }

  /**
   * Supervises a process that is ready.
   * @param {Started} started
   * @param {() => Promise<Started>} restart starts it again and waits until it is ready
   */
  watch(started, restart) {
    void this.#keepRunning(started, restart).catch((error) => {
      if (!this.#signal.aborted) this.#giveUp(error);
    });
  }

  /**
   * @param {Started} started
   * @param {() => Promise<Started>} restart
   */
  async #keepRunning(started, restart) {
    const { name } = started;
    let running = started;
    let pauseMs = this.#firstPauseMs;
    for (;;) {
      const readyAt = Date.now();
      const how = await running.exited;
      this.#signal.throwIfAborted();
      if (Date.now() - readyAt > STABLE_MS) pauseMs = this.#firstPauseMs;
      this.#log(`The ${name} process ended (${how}): it starts again.`);
      for (let failures = 0; ;) {
        await delay(pauseMs, undefined, { signal: this.#signal });
        pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
        try {
          running = await restart();
          break;
        } catch (error) {
          this.#signal.throwIfAborted();
          if (++failures === FAILED_STARTS_MAX)
            throw new UserError(
              `${messageOf(error)}\nThe ${name} process failed to start ${failures} times in a row.`,
            );
          this.#log(`The ${name} process failed to start (${failures} of ${FAILED_STARTS_MAX} times).`);
        }
      }
      this.#log(`The ${name} process is ready again.`);
    }
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
