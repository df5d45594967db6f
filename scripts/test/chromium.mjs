import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { UserError } from '../user-error.mjs';

/** The first one is headless, and renders the same pages with two thirds of the processor time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const macApplication = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

/**
 * Returns the browser for tests: CHROMIUM_PATH, else one on PATH, else Debian's package, which only root can install.
 * @param {(line: string) => void} log
 * @returns {Promise<string>} the program's full path
 * @throws {UserError} saying what to install
 */
export async function chromiumPath(log) {
  const { CHROMIUM_PATH: given } = process.env;
  if (given) {
    if (isProgram(given)) return given;
    throw new UserError(`CHROMIUM_PATH is not a program: ${given}.`);
  }
  const found = onPath();
  if (found) return found;
  if (process.getuid?.() === 0) {
    log('Installing Chromium for the browser tests …');
    await apt('update');
    for (const name of ['chromium-headless-shell', 'chromium'])
      if (!onPath()) await apt('install', '-y', '--no-install-recommends', name);
  }
  const installed = onPath();
  if (installed) return installed;
  throw new UserError(
    'The browser tests need Chromium: install chromium or google-chrome, or name one with CHROMIUM_PATH.',
  );
}

/** @param {string[]} args */
async function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // The caller checks whether the installation worked.
  await promisify(execFile)('apt-get', ['-q', ...args], { env, maxBuffer: Infinity }).catch(() => {});
}

function onPath() {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...candidates, macApplication].find(isProgram);
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
