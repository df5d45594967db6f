import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { root } from '../setup/npm.mjs';

/**
 * Runs a command of the operator's command line.
 * @param {NodeJS.ProcessEnv} env
 * @param {(string | number)[]} args
 * @returns {Promise<any>} the JSON it prints
 * @throws {Error} with what it said, when it failed
 */
export async function onecode(env, ...args) {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['apps/cli/dist/main.js', ...args.map(String), '--json'], {
    cwd: root,
    env,
  });
  return JSON.parse(stdout);
}
