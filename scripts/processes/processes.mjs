import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { UserError } from '../user-error.mjs';
import { Logs } from './logs.mjs';

/**
 * @typedef {object} Start  what to run and how to end it
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [cwd]
 * @property {{ uid: number, gid: number } | undefined} [account]
 * @property {number | 'inherit'} [output] what takes the output: a file descriptor, which is closed here, or our own output;
 *   without it `onLine` receives each line
 * @property {(line: string) => void} [onLine]
 * @property {string} [input] written to its standard input
 * @property {number} stage the highest stage is stopped first
 * @property {[NodeJS.Signals, number][]} stop signals in turn, each with the milliseconds it is given
 *
 * @typedef {{ name: string, pid: number, exited: Promise<string> }} Started  `exited` resolves with "exit code 1" or "SIGKILL"
 *
 * A process of the operating system. The pid alone may by now belong to another process; with the time of its start it
 * identifies one process for ever.
 * @typedef {{ pid: number, startedAt: string }} Identity
 *
 * A child as the record describes it: `stage` orders the stopping (the highest first), `stop` lists the signals it is sent, each
 * with the milliseconds it is given.
 * @typedef {Identity & { name: string, stage: number, stop: [NodeJS.Signals, number][] }} Child
 *
 * The record of a folder: the process that started the children, its guard, and the children.
 * @typedef {{ owner: Identity | null, guard: Identity | null, children: Child[] }} Running
 */

/**
 * The children of this process. They run in sessions of their own, so that Ctrl-C reaches only this process, which then stops them in
 * order. A guard process and a record on disk ensure that no child outlives this process, even if it is killed.
 */
export class Processes {
  #folder;
  /** @type {Running} */
  #running = { owner: identify(process.pid), guard: null, children: [] };
  #removeFolder;
  #stopping = false;
  /** @type {Logs | undefined} */
  #logs;

  /**
   * @private
   * @param {string} folder
   * @param {boolean} removeFolder
   */
  constructor(folder, removeFolder) {
    this.#folder = folder;
    this.#removeFolder = removeFolder;
  }

  /**
   * Locks a folder for this process, after stopping processes that a killed earlier one has left running.
   * @param {string} folder holds the record
   * @throws {UserError} when another running process has claimed the folder, or this user cannot write to it
   */
  static async claim(folder) {
    try {
      mkdirSync(folder, { recursive: true });
      chmodSync(folder, 0o711);
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error);
      throw new UserError(
        `The folder ${folder} cannot be used (${code}): it must belong to this user and be writable. After a start with sudo, it belongs to root.`,
      );
    }
    const { owner, guard, children } = readRecord(folder);
    if (owner && isRunning(owner)) {
      throw new UserError(`Onecode is already running from this folder (process ${owner.pid}).`);
    }
    if (guard) await ended(guard, 20_000);
    await stopChildren(hurried(children));
    const processes = new Processes(folder, false);
    processes.#startGuard();
    return processes;
  }

  /** Returns processes with a temporary folder, which is removed when they are stopped or this process is killed. */
  static throwaway() {
    const folder = mkdtempSync(join(tmpdir(), 'onecode-'));
    chmodSync(folder, 0o711);
    const processes = new Processes(folder, true);
    processes.#startGuard();
    return processes;
  }

  get folder() {
    return this.#folder;
  }

  /** Returns the children's log files. */
  get logs() {
    return (this.#logs ??= new Logs(this.#folder));
  }

  /**
   * @param {Start} start
   * @returns {Promise<Started>}
   * @throws {UserError} once the stopping has begun
   */
  async start({ name, command, args, env, cwd, account, output, onLine, input, stage, stop }) {
    if (this.#stopping) throw new UserError(`The ${name} process was not started: everything is stopping.`);
    const child = spawn(command, args, {
      ...account,
      cwd,
      env: env ?? process.env,
      detached: true,
      stdio: [input === undefined ? 'ignore' : 'pipe', output ?? 'pipe', output ?? 'pipe'],
    });
    if (typeof output === 'number') closeSync(output);
    const { pid } = child;
    if (pid === undefined) {
      return new Promise((_, reject) => child.once('error', reject));
    }
    this.#running.children.push({ ...identify(pid), name, stage, stop });
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

  /** Returns whether a child is running. */
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
    if (this.#removeFolder) rmSync(this.#folder, { recursive: true, force: true });
  }

  #write() {
    if (!this.#stopping) writeRecord(this.#folder, this.#running);
  }

  #startGuard() {
    const script = fileURLToPath(new URL('guard.mjs', import.meta.url));
    const args = [script, this.#folder, ...(this.#removeFolder ? ['--remove'] : [])];
    const guard = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    guard.unref();
    /** @type {import('node:net').Socket} */ (/** @type {unknown} */ (guard.stdin)).unref();
    this.#running.guard = identify(/** @type {number} */ (guard.pid));
    this.#write();
  }
}

/**
 * @param {string} folder
 * @returns {Running}
 */
export function readRecord(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'running.json'), 'utf8'));
  } catch {
    return { owner: null, guard: null, children: [] };
  }
}

/**
 * Writes a temporary file and renames it, so that readers never see half a record.
 * @param {string} folder
 * @param {Running} running
 */
function writeRecord(folder, running) {
  const file = join(folder, 'running.json');
  writeFileSync(`${file}.new`, JSON.stringify(running, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Removes the record when nothing is running for this folder any more.
 * @param {string} folder
 */
export function removeRecord(folder) {
  rmSync(join(folder, 'running.json'), { force: true });
}

/**
 * Stops children, the highest stage first and each stage together; never another process that has reused a pid.
 * @param {Child[]} children
 */
export async function stopChildren(children) {
  const stages = [...new Set(children.map(({ stage }) => stage))].toSorted((a, b) => b - a);
  for (const stage of stages) await Promise.all(children.filter((one) => one.stage === stage).map(stopChild));
}

/**
 * Returns the same children with at most a second for each signal, for a stop that must not wait longer.
 * @param {Child[]} children
 * @returns {Child[]}
 */
export function hurried(children) {
  return children.map((child) => ({
    ...child,
    stop: child.stop.map(([signal, graceMs]) => [signal, Math.min(graceMs, 1000)]),
  }));
}

/**
 * Signals are sent to the child's group, so that its own children end too; processes of the group that outlive it are killed.
 * @param {Child} child
 */
async function stopChild(child) {
  if (!isRunning(child)) return;
  for (const [signal, graceMs] of child.stop) {
    signalGroup(child.pid, signal);
    if (await ended(child, graceMs)) break;
  }
  signalGroup(child.pid, 'SIGKILL');
}

/**
 * @param {number} pid
 * @param {NodeJS.Signals} signal
 */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has already ended.
  }
}

/**
 * Waits until a process has ended.
 * @param {Identity} identity
 * @param {number} withinMs
 * @returns {Promise<boolean>} whether it did
 */
async function ended(identity, withinMs) {
  const deadline = Date.now() + withinMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) return false;
    await delay(25);
  }
  return true;
}

/**
 * @param {number} pid
 * @returns {Identity}
 */
function identify(pid) {
  return { pid, startedAt: startTime(pid) ?? 'gone' };
}

/** @param {Identity} identity */
function isRunning({ pid, startedAt }) {
  return startTime(pid) === startedAt;
}

/**
 * Returns when a process started, according to the operating system.
 * @param {number} pid
 * @returns {string | null} null when no such process runs (a process that has ended and waits to be reaped does not count as running)
 */
export function startTime(pid) {
  return process.platform === 'linux' ? startTimeInProc(pid) : startTimeInPs(pid);
}

/** @param {number} pid */
function startTimeInProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Starts at the state: the field before it is the name in brackets, which may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function startTimeInPs(pid) {
  try {
    const args = ['-o', 'stat=,lstart=', '-p', String(pid)];
    const [state, ...startedAt] = execFileSync('ps', args, { encoding: 'utf8' }).trim().split(/\s+/);
    return state?.startsWith('Z') ? null : startedAt.join(' ');
  } catch {
    return null;
  }
}
