import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { bornAt } from '../processes/identity.mjs';
import { stopChildren } from '../processes/record.mjs';
import { Refusal } from '../refusal.mjs';
import { canEnter, makePrivateFolder, postgresAccount, reachableFolder } from './account.mjs';
import { freePort } from './ports.mjs';
import { postgresBinaries } from './postgres-binaries.mjs';
import { postgresFault } from './reachable.mjs';

/** Fast shutdown, then immediate shutdown: the next start recovers from the write-ahead log. */
const stop = /** @type {[NodeJS.Signals, number][]} */ ([
  ['SIGINT', 1500],
  ['SIGQUIT', 500],
  ['SIGKILL', 300],
]);

/**
 * @typedef {import('./account.mjs').Account} Account
 *
 * @typedef {object} Wanted  a service of our own
 * @property {import('../processes/processes.mjs').Processes} processes  its data and its log go into their folder
 * @property {number} [port]  the port it had last time
 * @property {boolean} throwaway  its data need not survive a crash of the machine
 * @property {readonly string[]} [settings]  more of PostgreSQL's own, `name=value`
 * @property {(line: string) => void} say
 *
 * @typedef {import('../processes/processes.mjs').Started & { url: string, port: number }} Service
 */

/**
 * Starts the PostgreSQL that comes as an npm package, with its data in the folder `postgres`. What a killed earlier run
 * has left there is stopped first.
 * @param {Wanted} wanted
 * @returns {Promise<Service>} url: of a database "onecode",
 *   as a user who may create others
 */
export async function startPostgres({ processes, port: wantedPort, throwaway, settings: more = [], say }) {
  const { folder } = processes;
  const account = postgresAccount(say);
  const native = postgresBinaries(account, say);
  const dataDir = dataFolder(folder, account, say);
  if (!existsSync(dataDir)) initialise(native, dataDir, account);
  checkVersion(native, dataDir);
  await stopLeftover(dataDir);

  const port = await freePort(wantedPort);
  const log = join(folder, 'postgres.log');
  const started = await processes.start({
    name: 'postgres',
    command: join(native, 'bin', 'postgres'),
    args: [
      '-D',
      dataDir,
      '-p',
      String(port),
      ...[...settings(throwaway), ...more].flatMap((one) => ['-c', one]),
    ],
    cwd: '/',
    account,
    output: openSync(log, 'w', 0o600),
    stage: 1,
    stop,
  });
  const password = readFileSync(join(dataDir, 'onecode-password'), 'utf8').trim();
  const server = `postgresql://onecode:${password}@127.0.0.1:${port}`;
  await ready('PostgreSQL', started, log, () => postgresFault(`${server}/postgres`));
  await createDatabase(`${server}/postgres`);
  return { ...started, url: `${server}/onecode`, port };
}

/**
 * Waits until a service of ours answers.
 * @param {string} title
 * @param {{ exited: Promise<string> }} started
 * @param {string} log its last lines explain an early end
 * @param {() => Promise<string | null>} fault
 */
export async function ready(title, { exited }, log, fault) {
  /** @type {string | undefined} */
  let end;
  void exited.then((how) => (end = how));
  const deadline = Date.now() + 60_000;
  for (let wrong = await fault(); wrong !== null; wrong = await fault()) {
    if (end !== undefined || Date.now() > deadline) {
      const tail = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
      throw new Refusal(`${tail}\n${title} did not start (${end ?? wrong}); its log is ${log}.`);
    }
    await delay(50);
  }
}

/**
 * @param {string} folder
 * @param {Account | undefined} account
 * @param {(line: string) => void} say
 */
function dataFolder(folder, account, say) {
  if (canEnter(folder, account)) return join(folder, 'postgres');
  const other = join(reachableFolder(folder), 'data');
  say(`PostgreSQL's data is in ${other}, because the account "postgres" cannot reach this folder.`);
  return other;
}

/**
 * Makes the data folder under another name first, so that an interrupted attempt leaves nothing that looks complete.
 * @param {string} native
 * @param {string} dataDir
 * @param {Account | undefined} account
 */
function initialise(native, dataDir, account) {
  const fresh = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  rmSync(fresh, { recursive: true, force: true });
  makePrivateFolder(fresh, account);
  writeFileSync(passwordFile, randomBytes(16).toString('hex'), { mode: 0o600 });
  if (account) chownSync(passwordFile, account.uid, account.gid);
  const flags = {
    pgdata: fresh,
    username: 'onecode',
    auth: 'scram-sha-256',
    pwfile: passwordFile,
    encoding: 'UTF8',
    locale: 'C',
    'locale-provider': 'builtin',
    'builtin-locale': 'C.UTF-8',
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const { status, stderr } = spawnSync(join(native, 'bin', 'initdb'), [...args, '--no-sync'], {
    ...account,
    cwd: '/',
    encoding: 'utf8',
  });
  if (status !== 0)
    throw new Refusal(`${stderr.trimEnd()}\nPostgreSQL could not make its data folder ${dataDir}.`);
  renameSync(passwordFile, join(fresh, 'onecode-password'));
  renameSync(fresh, dataDir);
}

/**
 * @param {string} native
 * @param {string} dataDir
 */
function checkVersion(native, dataDir) {
  const data = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  const { stdout } = spawnSync(join(native, 'bin', 'initdb'), ['--version'], { cwd: '/', encoding: 'utf8' });
  const program = /\d+/.exec(stdout)?.[0];
  if (data !== program) {
    throw new Refusal(
      `${dirname(dataDir)} holds data of PostgreSQL ${data}, and this is PostgreSQL ${program}: move it away to start afresh.`,
    );
  }
}

/**
 * A server may still run in our data folder although no record names it; and the pid that a server killed long ago has
 * left in its file may belong to somebody else by now, which PostgreSQL would take for a running server.
 * @param {string} dataDir
 */
async function stopLeftover(dataDir) {
  const file = join(dataDir, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const born = bornAt(pid);
  if (born === null) return;
  const { stdout } =
    process.platform === 'linux'
      ? { stdout: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }
      : spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  if (stdout.includes(`-D ${dataDir} `))
    await stopChildren([{ pid, born, name: 'postgres', stage: 1, stop }]);
  else rmSync(file);
}

/**
 * Its log holds no statement and no detail, since both may quote a phone number.
 * @param {boolean} throwaway
 */
function settings(throwaway) {
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
