import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * When a process was born, as the system tells it. Together with the pid it names one process for ever: a pid alone may
 * by now have been given to somebody else.
 * @param {number} pid
 * @returns {string | null} null when no such process runs (one that has ended and only waits to be reaped does not run)
 */
export function bornAt(pid) {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid);
}

/** @param {{ pid: number, born: string }} recorded */
export function isAlive({ pid, born }) {
  return bornAt(pid) === born;
}

/**
 * The state of a process, as the system tells it: its first letter is `T` for one that is stopped.
 * @param {number} pid of a process that runs
 * @returns {string}
 */
export function stateOf(pid) {
  return process.platform === 'linux' ? (statOf(pid)[0] ?? '') : ps(pid, 'stat=');
}

/**
 * The fields of a process in `/proc` from its state on.
 * @param {number} pid
 */
function statOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the name in brackets, which may itself hold spaces and brackets.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/**
 * @param {number} pid
 * @param {string} fields
 */
function ps(pid, fields) {
  return execFileSync('ps', ['-o', fields, '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/** @param {number} pid */
function fromProc(pid) {
  try {
    const fields = statOf(pid);
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function fromPs(pid) {
  try {
    const [state, ...born] = ps(pid, 'stat=,lstart=').split(/\s+/);
    return state?.startsWith('Z') ? null : born.join(' ');
  } catch {
    return null;
  }
}
