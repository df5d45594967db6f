import { spawn } from 'node:child_process';

/**
 * Runs this command again on a Node that lets Jest load ES modules, in place of this process, and ends with its exit code. So `npx jest`
 * and editors need no option.
 * @returns {Promise<never>}
 */
export async function runWithModules() {
  const options = ['--experimental-vm-modules', '--no-warnings=ExperimentalWarning'];
  const args = [...process.execArgv, ...options, ...process.argv.slice(1)];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // A terminal sends SIGINT to both processes; this one waits for the other's end.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const code = await new Promise((resolve) => child.once('exit', resolve));
  process.exit(code ?? 1);
}
