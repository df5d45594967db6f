import { installPackages } from './install.mjs';
import { runNpm } from './npm.mjs';

/**
 * Makes a checkout ready to run: packages as the lock file names them, then the build.
 * @param {import('../processes/processes.mjs').Processes} processes
 */
export async function prepare(processes) {
  await installPackages(processes);
  console.log('Building …');
  await runNpm(processes, ['run', '--silent', 'build'], { title: 'npm run build' });
}
