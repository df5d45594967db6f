import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Processes } from './processes/processes.mjs';
import { UserError } from './user-error.mjs';

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** The fingerprint of the installed packages, written after an installation. */
const stamp = join(root, 'node_modules', '.onecode-install');

/** Options of a step that ends by itself. It runs in the root folder, and is stopped before all other processes. */
export const step = {
  cwd: root,
  stage: 5,
  stop: /** @type {[NodeJS.Signals, number][]} */ ([
    ['SIGTERM', 500],
    ['SIGKILL', 500],
  ]),
};

/** `npm run setup`: prepares the checkout and starts nothing. */
export async function run() {
  const processes = Processes.throwaway();
  try {
    await prepare(processes);
  } finally {
    await processes.stop();
  }
}

/**
 * Makes a checkout ready to run: installs the packages that the lock file names, then builds.
 * @param {Processes} processes
 */
export async function prepare(processes) {
  await installAndCompile(processes);
  await Promise.all([buildSdk(processes).then(() => buildSite(processes)), buildConsole(processes)]);
}

/**
 * Installs and compiles: the part of `prepare` that every process and script needs.
 * @param {Processes} processes
 */
export async function installAndCompile(processes) {
  await installPackages(processes);
  console.log('Building …');
  await runScript(processes, 'compile');
}

/** @param {Processes} processes */
export const buildSdk = (processes) => runScript(processes, 'build', '-w', 'packages/client');

/**
 * Builds the documentation's site, which contains the built SDK for download.
 * @param {Processes} processes
 */
export const buildSite = (processes) => runScript(processes, 'build', '-w', 'apps/docs');

/**
 * Builds the console's web application.
 * @param {Processes} processes
 */
export const buildConsole = (processes) => runScript(processes, 'build', '-w', 'apps/console');

/**
 * @param {Processes} processes
 * @param {...string} args the script's name, and where it is
 */
const runScript = (processes, ...args) =>
  runNpm(processes, ['run', '--silent', ...args], { title: `npm run ${args.join(' ')}` });

/**
 * Installs the packages when they are missing or the lock file has changed since they were installed. The lock file is not changed,
 * whatever the version of npm. `npm install`, because `npm ci` refuses a registry that lacks another platform's optional packages; with
 * development packages even under NODE_ENV=production, since the build needs them.
 * @param {Processes} processes
 */
async function installPackages(processes) {
  const wanted = await fingerprint();
  if (wanted === (await readFile(stamp, 'utf8').catch(() => null))) return;
  console.log('Installing packages (half a minute the first time) …');
  const args = ['install', '--no-save', '--include=dev', '--loglevel=error'];
  await runNpm(processes, args, { title: 'npm install' });
  await writeFile(stamp, wanted);
}

/** Returns a fingerprint of the inputs of node_modules: the lock file, each package.json, and the platform. */
async function fingerprint() {
  const workspaces = await Promise.all(['packages', 'apps'].map(manifestsIn));
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const file of ['package-lock.json', 'package.json', ...workspaces.flat()]) {
    hash.update(file).update(await readFile(join(root, file)).catch(() => ''));
  }
  return hash.digest('hex');
}

/** @param {string} parent */
async function manifestsIn(parent) {
  const names = await readdir(join(root, parent));
  return names.toSorted().map((name) => join(parent, name, 'package.json'));
}

/**
 * Runs npm in the root folder, or in another release's, and shows its output only when it fails.
 * @param {Processes} processes
 * @param {string[]} args
 * @param {{ title: string, env?: NodeJS.ProcessEnv, cwd?: string }} run title: the name of the command in error messages
 * @throws {UserError} when npm ends with another code than 0
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
  if (end !== 'exit code 0') throw new UserError([...lines, `${title} failed (${end}).`].join('\n'));
}

/**
 * Returns the command that runs npm: the npm that started this process, if any, because PATH may not contain one.
 * @param {string[]} args
 * @returns {{ command: string, args: string[] }}
 */
export function npm(args) {
  const { npm_execpath: script } = process.env;
  const isNpm = script !== undefined && basename(script) === 'npm-cli.js';
  return isNpm ? { command: process.execPath, args: [script, ...args] } : { command: 'npm', args };
}
