import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, chownSync, lstatSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../refusal.mjs';

/** @typedef {{ uid: number, gid: number }} Account */

/**
 * The account that PostgreSQL runs under. It refuses to run as root, so root lends it the system's `postgres` account,
 * and makes one where there is none.
 * @param {(line: string) => void} say
 * @returns {Account | undefined} undefined: our own
 */
export function postgresAccount(say) {
  if (process.getuid?.() !== 0) return undefined;
  const known = lookUp();
  if (known) return known;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'pipe' });
  } catch {
    // The look-up below says whether it worked.
  }
  const made = lookUp();
  if (!made) {
    throw new Refusal(
      'PostgreSQL does not run as root, and no account "postgres" could be made: run this as another user, or set DATABASE_URL.',
    );
  }
  say('Made the system account "postgres", because PostgreSQL does not run as root.');
  return made;
}

/** @returns {Account | undefined} */
function lookUp() {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : undefined;
  });
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/**
 * Whether an account can enter a folder.
 * @param {string} folder
 * @param {Account | undefined} account
 */
export function canEnter(folder, account) {
  if (!account) return true;
  return (
    spawnSync('sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0
  );
}

/**
 * A folder under the system's temporary one that belongs to this checkout, for what the postgres account cannot reach in
 * place. Others can write to the temporary folder too, so one that is not ours is refused.
 * @param {string} path names the checkout
 */
export function reachableFolder(path) {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `onecode-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const entry = lstatSync(folder);
  if (!entry.isDirectory() || entry.uid !== process.getuid?.()) {
    throw new Refusal(
      `${folder} exists and belongs to somebody else: remove it, or set TMPDIR to another folder.`,
    );
  }
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * Makes a folder that only an account can read.
 * @param {string} folder
 * @param {Account | undefined} account
 */
export function makePrivateFolder(folder, account) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account) chownSync(folder, account.uid, account.gid);
}
