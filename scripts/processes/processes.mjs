import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../refusal.mjs';
import { bornAt, isAlive } from './identity.mjs';
import { ended, hurried, readRecord, removeRecord, stopChildren, writeRecord } from './record.mjs';

/**
 * @typedef {object} Start  what to run and how to end it
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {{ uid: number, gid: number } | undefined} [account]
 * @property {number | 'inherit'} [output] what takes the output; without it `onLine` hears each line
 * @property {(line: string) => void} [onLine]
 * @property {string} [input] written to its standard input
 * @property {number} stage the highest stage is stopped first
 * @property {[NodeJS.Signals, number][]} stop signals in turn, each with the milliseconds it is given
 *
 * @typedef {{ name: string, pid: number, exited: Promise<string> }} Started  `exited` tells how: "exit code 1", "SIGKILL"
 */

/**
 * The children of this process. They run in sessions of their own, so that Ctrl-C reaches only us and the order of
 * stopping is ours; a guard process and a record on disk see to it that none outlives us, even when we are killed.
 */
export class Processes {
  #folder;
  /** @type {import('./record.mjs').Running} */
  #running;
  #stopping = false;

  /**
   * @param {string} folder
   * @param {import('./record.mjs').Running} running
   */
  constructor(folder, running) {
    this.#folder = folder;
    this.#running = running;
  }

  /**
   * Takes a folder for this process, after stopping what a killed earlier one has left running there.
   * @param {string} folder holds the record
   * @param {{ remove?: boolean }} [options] remove: the guard deletes the folder when we are killed
   * @throws {Refusal} when another living process holds the folder
   */
  static async claim(folder, { remove = false } = {}) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o711);
    const { owner, guard, children } = readRecord(folder);
    if (owner && isAlive(owner)) {
      throw new Refusal(`Onecode is already running from this folder (process ${owner.pid}).`);
    }
    if (guard) await ended(guard, 20_000);
    await stopChildren(hurried(children));
    const processes = new Processes(folder, { owner: living(process.pid), guard: null, children: [] });
    processes.#watch(remove);
    return processes;
  }

  /**
   * @param {Start} start
   * @returns {Promise<Started>}
   * @throws {Refusal} once the stopping has begun
   */
  async start({ name, command, args, env, cwd, account, output, onLine, input, stage, stop }) {
    if (this.#stopping) throw new Refusal(`The ${name} process was not started: everything is stopping.`);
    const child = spawn(command, args, {
      ...account,
      cwd,
      env: env ?? process.env,
      detached: true,
      stdio: [input === undefined ? 'ignore' : 'pipe', output ?? 'pipe', output ?? 'pipe'],
    });
    const { pid } = child;
    if (pid === undefined) {
      return new Promise((_, reject) => child.once('error', reject));
    }
    this.#running.children.push({ ...living(pid), name, stage, stop });
    writeRecord(this.#folder, this.#running);
    child.stdin?.on('error', () => {}).end(input);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', onLine ?? (() => {}));
    }
    const exited = new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`)),
    );
    return { name, pid, exited };
  }

  /** Whether any child was started. */
  get any() {
    return this.#running.children.length > 0;
  }

  /**
   * Stops all children in order.
   * @param {{ hurry?: boolean }} [options] hurry: see `hurried`
   */
  async stop({ hurry = false } = {}) {
    this.#stopping = true;
    const { children } = this.#running;
    await stopChildren(hurry ? hurried(children) : children);
    removeRecord(this.#folder);
  }

  /** @param {boolean} remove */
  #watch(remove) {
    const script = fileURLToPath(new URL('guard.mjs', import.meta.url));
    const guard = spawn(process.execPath, [script, this.#folder, ...(remove ? ['--remove'] : [])], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guard.unref();
    /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (guard.stdin)).unref();
    this.#running.guard = living(/** @type {number} */ (guard.pid));
    writeRecord(this.#folder, this.#running);
  }
}

/** @param {number} pid */
function living(pid) {
  return { pid, born: bornAt(pid) ?? 'gone' };
}
