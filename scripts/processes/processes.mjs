import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  #running = { owner: living(process.pid), guard: null, children: [] };
  #remove;
  #stopping = false;

  /**
   * @private
   * @param {string} folder
   * @param {boolean} remove
   */
  constructor(folder, remove) {
    this.#folder = folder;
    this.#remove = remove;
  }

  /**
   * Takes a folder for this process, after stopping what a killed earlier one has left running there.
   * @param {string} folder holds the record
   * @throws {Refusal} when another living process holds the folder
   */
  static async claim(folder) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o711);
    const { owner, guard, children } = readRecord(folder);
    if (owner && isAlive(owner)) {
      throw new Refusal(`Onecode is already running from this folder (process ${owner.pid}).`);
    }
    if (guard) await ended(guard, 20_000);
    await stopChildren(hurried(children));
    const processes = new Processes(folder, false);
    processes.#watch();
    return processes;
  }

  /** In a folder of their own, which goes when they are stopped or we are killed. */
  static throwaway() {
    const folder = mkdtempSync(join(tmpdir(), 'onecode-'));
    chmodSync(folder, 0o711);
    const processes = new Processes(folder, true);
    processes.#watch();
    return processes;
  }

  get folder() {
    return this.#folder;
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
    this.#write();
    child.stdin?.on('error', () => {}).end(input);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', onLine ?? (() => {}));
    }
    child.once('exit', () => {
      this.#running.children = this.#running.children.filter((one) => one.pid !== pid);
      this.#write();
    });
    const exited = new Promise((resolve) =>
      child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`)),
    );
    return { name, pid, exited };
  }

  /** Whether any child runs. */
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
    if (this.#remove) rmSync(this.#folder, { recursive: true, force: true });
  }

  #write() {
    if (!this.#stopping) writeRecord(this.#folder, this.#running);
  }

  #watch() {
    const script = fileURLToPath(new URL('guard.mjs', import.meta.url));
    const guard = spawn(process.execPath, [script, this.#folder, ...(this.#remove ? ['--remove'] : [])], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    guard.unref();
    /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (guard.stdin)).unref();
    this.#running.guard = living(/** @type {number} */ (guard.pid));
    this.#write();
  }
}

/** @param {number} pid */
function living(pid) {
  return { pid, born: bornAt(pid) ?? 'gone' };
}
