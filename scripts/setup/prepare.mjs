import { installPackages } from './install.mjs';
import { runNpm } from './npm.mjs';

/**
 * Makes a checkout ready to run: packages as the lock file names them, then the build.
 * @param {(line: string) => void} [say] hears one short line for each step
 * @param {AbortSignal} [signal] ends it early
 */
export async function prepare(say = console.log, signal) {
  await installPackages(say, signal);
  say('Building …');
  await runNpm(['run', '--silent', 'build'], { title: 'npm run build', signal });
}
