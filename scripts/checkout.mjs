import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Refusal } from '../refusal.mjs';

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** How a step is run that ends by itself: in the root folder, and ended first of all when everything is to stop. */
export const step = {
  cwd: root,
  stage: 5,
  stop: /** @type {[NodeJS.Signals, number][]} */ ([
    ['SIGTERM', 500],
    ['SIGKILL', 500],
  ]),
};

/**
 * Runs npm in the root folder, or in another release's, and shows its output only when it fails.
 * @param {import('../processes/processes.mjs').Processes} processes
 * @param {string[]} args
 * @param {{ title: string, env?: NodeJS.ProcessEnv, cwd?: string }} run title: what a failure is called
 * @throws {Refusal} when npm ends with another code than 0
 */
export async function runNpm(processes, args, { title, env = process.env, cwd = root }) {
  /** @type {string[]} */
  const lines = [];
  const { exited } = await processes.start({
    ...step,
    ...npm(args),
    name: title,
    cwd,
    env,
    onLine: (line) => lines.push(line),
  });
  const end = await exited;
  if (end !== 'exit code 0') throw new Refusal([...lines, `${title} failed (${end}).`].join('\n'));
}

/**
 * The npm that started us, where one did: there may be no other on PATH.
 * @param {string[]} args
 * @returns {{ command: string, args: string[] }}
 */
export function npm(args) {
  const { npm_execpath: script } = process.env;
  const started = script !== undefined && basename(script) === 'npm-cli.js';
  return started ? { command: process.execPath, args: [script, ...args] } : { command: 'npm', args };
}
