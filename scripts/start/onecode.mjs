import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Refusal } from '../refusal.mjs';
import { root } from '../setup/npm.mjs';

const run = promisify(execFile);

/**
 * Runs a command of the operator's command line.
 * @param {NodeJS.ProcessEnv} env
 * @param {(string | number)[]} args
 * @returns {Promise<any>} the JSON it prints
 * @throws {Refusal} with what it said, when it failed; its arguments may hold a token and stay out
 */
export async function onecode(env, ...args) {
  try {
    const all = ['apps/cli/dist/main.js', ...args.map(String), '--json'];
    const { stdout } = await run(process.execPath, all, { cwd: root, env });
    return JSON.parse(stdout);
  } catch (error) {
    const { stderr } = /** @type {{ stderr?: string }} */ (error);
    throw new Refusal(`onecode ${args[0]} ${args[1]} failed: ${(stderr || 'its answer was no JSON').trim()}`);
  }
}
