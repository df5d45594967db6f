import { spawn } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../refusal.mjs';

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @typedef {object} Run
 * @property {string} title what a failure is called
 * @property {NodeJS.ProcessEnv | undefined} [env]
 * @property {AbortSignal | undefined} [signal] ends it early
 */

/**
 * Runs npm in the root folder and shows its output only when it fails. It runs in a process group of its own, which is
 * ended as a whole.
 * @param {string[]} args
 * @param {Run} run
 * @throws {Refusal} when npm ends with another code than 0
 */
export async function runNpm(args, { title, env = process.env, signal }) {
  signal?.throwIfAborted();
  const child = spawn(...npm(args), { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  }
  const end = () => void (child.exitCode === null && child.pid && process.kill(-child.pid, 'SIGTERM'));
  signal?.addEventListener('abort', end);
  const code = await new Promise((resolve, reject) => {
    child.once('error', () => reject(new Refusal('npm was not found on PATH; it comes with Node.')));
    child.once('close', resolve);
  });
  signal?.removeEventListener('abort', end);
  signal?.throwIfAborted();
  if (code !== 0) throw new Refusal(`${output.trimEnd()}\n${title} failed (exit code ${code}).`);
}

/**
 * The npm that started us, where one did: there may be no other on PATH.
 * @param {string[]} args
 * @returns {[string, string[]]}
 */
export function npm(args) {
  const { npm_execpath: script } = process.env;
  const started = script !== undefined && basename(script) === 'npm-cli.js';
  return started ? [process.execPath, [script, ...args]] : ['npm', args];
}
