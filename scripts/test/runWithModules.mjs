import { spawn } from 'node:child_process';

/** Node's options for Jest, which its workers inherit. */
export const JEST_NODE_OPTIONS = [
  '--experimental-vm-modules',
  '--no-warnings=ExperimentalWarning',
  // Each test file loads up to 2,700 modules. With V8's initial space for new objects, of one MB, it would collect garbage every few MB
  // and find almost none.
  '--min-semi-space-size=16',
];

/**
 * Runs this command again on a Node that lets Jest load ES modules, in place of this process, and ends with its exit code. So `npx jest`
 * and editors need no option.
 * @returns {Promise<never>}
 */
export async function runWithModules() {
  const args = [...process.execArgv, ...JEST_NODE_OPTIONS, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // A terminal sends SIGINT to both processes; this one waits for the other's end.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  process.exit(code ?? 1);
}
