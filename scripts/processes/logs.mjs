import { copyFileSync, mkdirSync, openSync, readFileSync, renameSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

const LOG_BYTES_MAX = 10_000_000;
const CHECK_INTERVAL_MS = 10_000;

/**
 * The log files of processes, `<folder>/logs/<name>.log`. Processes write to them by themselves, so that a line never waits for
 * this process. A file that has grown past 10 MB becomes `<name>.log.1` and is emptied; so does the file of an earlier start.
 */
export class Logs {
  #folder;
  /** @type {Set<string>} */
  #files = new Set();

  /** @param {string} parent */
  constructor(parent) {
    this.#folder = join(parent, 'logs');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    setInterval(() => this.#rotateLarge(), CHECK_INTERVAL_MS).unref();
  }

  /**
   * Opens a process's log, at its end if it is already open.
   * @param {string} name
   * @returns {number} the file descriptor, for the process's output
   */
  open(name) {
    const file = this.fileOf(name);
    if (!this.#files.has(file)) {
      this.#files.add(file);
      if (sizeOf(file) > 0) renameSync(file, `${file}.1`);
    }
    return openSync(file, 'a', 0o600);
  }

  /** @param {string} name */
  fileOf(name) {
    return join(this.#folder, `${name}.log`);
  }

  /**
   * @param {string} name
   * @param {number} lines
   * @returns {string} the last lines of a process's log
   */
  tail(name, lines) {
    try {
      return readFileSync(this.fileOf(name), 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
    } catch {
      return '';
    }
  }

  /** Copies and truncates the file, because the process keeps appending to the file that it has opened. */
  #rotateLarge() {
    for (const file of this.#files) {
      if (sizeOf(file) <= LOG_BYTES_MAX) continue;
      copyFileSync(file, `${file}.1`);
      truncateSync(file);
    }
  }
}

/** @param {string} file */
function sizeOf(file) {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
