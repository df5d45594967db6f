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

/** @param {Child} child */
async function stopChild(child) {
  for (const [signal, graceMs] of child.stop) {
    if (!isAlive(child)) return;
    try {
      process.kill(-child.pid, signal); // its group: what it has started itself ends with it
    } catch {
      return; // it ended between the look and the signal
    }
    await ended(child, graceMs);
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
