import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';

/** What a tick is worth in the files of /proc: the same on every Linux that people run. */
const TICK_MS = 10;

/** @typedef {{ pid: number, parent: number, cpuMs: number }} Used */

/**
 * The processor time that processes have used so far, with that of everything they have started.
 * @param {readonly number[]} pids
 * @returns {number} milliseconds
 */
export function cpuMsOf(pids) {
  const all = process.platform === 'linux' ? fromProc() : fromPs();
  const wanted = new Set(pids);
  let sum = 0;
  // A parent has a smaller pid than its children, but for the one time in a long while that pids begin anew.
  for (const { pid, parent, cpuMs } of all.toSorted((a, b) => a.pid - b.pid)) {
    if (wanted.has(parent)) wanted.add(pid);
    if (wanted.has(pid)) sum += cpuMs;
  }
  return sum;
}

/**
 * @param {number} pid
 * @returns {number} MiB of memory that a process has in use
 */
export function residentMiBOf(pid) {
  if (process.platform !== 'linux')
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) / 1024;
}

/** @returns {Used[]} */
function fromProc() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const [, parent = 0, ...fields] = rest.map(Number);
        // Its own time and that of its children that have ended: user and system, each (proc(5)).
        const ticks = fields.slice(9, 13).reduce((sum, one) => sum + one, 0);
        return [{ pid: Number(name), parent, cpuMs: ticks * TICK_MS }];
      } catch {
        return []; // It has ended meanwhile.
      }
    });
}

/** @returns {Used[]} */
function fromPs() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,time='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid, parent, time = ''] = line.trim().split(/\s+/);
    const seconds = time.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0);
    return { pid: Number(pid), parent: Number(parent), cpuMs: seconds * 1000 };
  });
}
