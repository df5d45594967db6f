import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './identity.mjs';

/**
 * A process as the record names it.
 * @typedef {{ pid: number, born: string }} Living
 *
 * A child: `stage` orders the stopping (the highest first), `stop` is what it is sent, each signal with the time it is given.
 * @typedef {Living & { name: string, stage: number, stop: [NodeJS.Signals, number][] }} Child
 *
 * What runs for a folder: who started it, who watches over that one, and the children.
 * @typedef {{ owner: Living | null, guard: Living | null, children: Child[] }} Running
 */

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
 * Written beside and renamed, so that a reader never meets half a record.
 * @param {string} folder
 * @param {Running} running
 */
export function writeRecord(folder, running) {
  const file = join(folder, 'running.json');
  writeFileSync(`${file}.new`, JSON.stringify(running, null, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/**
 * Says that nothing runs for this folder any more.
 * @param {string} folder
 */
export function removeRecord(folder) {
  rmSync(join(folder, 'running.json'), { force: true });
}

/**
 * Stops children, the highest stage first and each stage together; never a process that only has the pid of one.
 * @param {Child[]} children
 */
export async function stopChildren(children) {
  const stages = [...new Set(children.map(({ stage }) => stage))].toSorted((a, b) => b - a);
  for (const stage of stages) await Promise.all(children.filter((one) => one.stage === stage).map(stopChild));
}

/**
 * The same children with no more than a second for each signal: for those that nobody waits for any more.
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
 * Signals go to the child's group, so that what it has started itself ends too; whatever of that outlives it is killed.
 * @param {Child} child
 */
async function stopChild(child) {
  if (!isAlive(child)) return;
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
    // The group has ended already.
  }
}

/**
 * Waits until a process has ended.
 * @param {Living} living
 * @param {number} withinMs
 * @returns {Promise<boolean>} whether it did
 */
export async function ended(living, withinMs) {
  const deadline = Date.now() + withinMs;
  while (isAlive(living)) {
    if (Date.now() > deadline) return false;
    await delay(25);
  }
  return true;
}
