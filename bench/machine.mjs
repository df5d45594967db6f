import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** One tick in the files of /proc, the same on every common Linux. */
const TICK_MS = 10;

/** @typedef {{ pid: number, parent: number, cpuMs: number }} ProcessTime */

/** Returns milliseconds of the machine's monotonic clock, which all processes share. */
export const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6;

/**
 * Returns the processor time that processes and all their descendants have used so far.
 * @param {readonly number[]} pids
 * @returns {number} milliseconds
 */
export function cpuMsOf(pids) {
  const all = process.platform === 'linux' ? readProc() : readPs();
  const included = new Set(pids);
  let sum = 0;
  // A parent's pid is smaller than its children's, except when pids wrap around.
  for (const { pid, parent, cpuMs } of all.toSorted((a, b) => a.pid - b.pid)) {
    if (included.has(parent)) included.add(pid);
    if (included.has(pid)) sum += cpuMs;
  }
  return sum;
}

/**
 * Returns the resident memory of a process.
 * @param {number} pid
 * @returns {number} MiB
 */
export function residentMiBOf(pid) {
  if (process.platform !== 'linux')
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

/** @returns {ProcessTime[]} */
function readProc() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const [, parent = 0, ...fields] = rest.map(Number);
        // User and system time of the process and of its children that have ended (proc(5)).
        const ticks = fields.slice(9, 13).reduce((sum, one) => sum + one, 0);
        return [{ pid: Number(name), parent, cpuMs: ticks * TICK_MS }];
      } catch {
        return []; // It has ended in the meantime.
      }
    });
}

/** @returns {ProcessTime[]} */
function readPs() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,time='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, parent, time = ''] = line.trim().split(/\s+/);
    const seconds = time.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0);
    return { pid: Number(pid), parent: Number(parent), cpuMs: seconds * 1000 };
  });
}
