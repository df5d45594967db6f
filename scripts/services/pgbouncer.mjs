import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { postgresFault, waitForAnswer } from './answer.mjs';
import { fetchReleasePackages, librariesIn } from './packages.mjs';
import { freePort } from './ports.mjs';

/**
 * A PgBouncer on this machine.
 * @typedef {{ version: string, command: string, args: string[], env: NodeJS.ProcessEnv }} PgBouncer
 */

/** 1.21 is the first version that keeps prepared statements in transaction mode. */
const MINOR_VERSION_MIN = 21;
/** A release of Debian that has a later one, and its dependencies beyond a basic system. */
const RELEASE = 'trixie';
const RELEASE_PACKAGES = [
  'pgbouncer',
  'libc6',
  'libcares2',
  'libevent-2.1-7t64',
  'libpam0g',
  'libssl3t64',
  'libsystemd0',
];

/**
 * Returns a PgBouncer that supports prepared statements: from the path, or from a release of Debian, unpacked into .cache.
 * @returns {PgBouncer | null} null where this machine cannot have one
 */
export function findPgBouncer() {
  const own = programOf({ command: 'pgbouncer', args: [], env: process.env });
  if (own !== null && Number(own.version.split('.')[1]) >= MINOR_VERSION_MIN) return own;
  const folder = join(root, '.cache', `pgbouncer-${RELEASE}-${process.arch}`);
  return (
    unpacked(folder) ?? (fetchReleasePackages(folder, RELEASE, RELEASE_PACKAGES) ? unpacked(folder) : null)
  );
}

/**
 * A release's program needs that release's libraries, including its loader.
 * @param {string} folder
 */
function unpacked(folder) {
  const [loader] = filesNamed(folder, /^ld-linux.*\.so\.\d$/);
  const program = filesNamed(folder, /^pgbouncer$/).find((path) => path.includes('/sbin/'));
  if (loader === undefined || program === undefined) return null;
  const libraries = librariesIn(folder).join(':');
  return programOf({ command: loader, args: ['--library-path', libraries, program], env: process.env });
}

/**
 * @param {string} folder
 * @param {RegExp} name
 * @returns {string[]}
 */
function filesNamed(folder, name) {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && name.test(entry.name))
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  } catch {
    return [];
  }
}

/**
 * @param {Omit<PgBouncer, 'version'>} program
 * @returns {PgBouncer | null}
 */
function programOf(program) {
  const { stdout } = spawnSync(program.command, [...program.args, '--version'], {
    env: program.env,
    encoding: 'utf8',
  });
  const version = /PgBouncer (\d+\.\d+)/i.exec(stdout ?? '')?.[1];
  return version === undefined ? null : { version, ...program };
}

/**
 * @param {string} entry of deploy/pgbouncer/pgbouncer.ini
 * @returns {string} its setting of that name
 */
function connectQuery(entry) {
  const file = readFileSync(join(root, 'deploy/pgbouncer/pgbouncer.ini'), 'utf8');
  return (
    /** @type {RegExpExecArray} */ (new RegExp(`^${entry} = .*(connect_query='.*')$`, 'm').exec(file))[1] ??
    ''
  );
}

/**
 * Starts a PgBouncer in front of a database.
 * @param {PgBouncer} program
 * @param {object} options
 * @param {import('../processes/processes.mjs').Processes} options.processes
 * @param {string} options.url of the database
 * @param {Record<string, string | number>} options.settings of the section `pgbouncer`
 * @param {string} [options.entry] of deploy/pgbouncer/pgbouncer.ini; its connect_query runs on each session
 * @param {number} [options.port] that it had the last time
 * @returns {Promise<import('../processes/processes.mjs').Started & { url: string, port: number }>}
 */
export async function startPgBouncer(
  program,
  { processes, url, settings, entry: deployed, port: portBefore },
) {
  const target = new URL(url);
  const port = await freePort(portBefore);
  const folder = mkdtempSync(join(processes.folder, 'pgbouncer-'));
  // As root it only runs under another account, which must be able to read this file.
  chmodSync(folder, 0o711);
  const file = join(folder, 'pgbouncer.ini');
  const database = target.pathname.slice(1);
  const entry = [
    `${database} = host=${target.hostname} port=${target.port} dbname=${database}`,
    `user=${decodeURIComponent(target.username)} password=${decodeURIComponent(target.password)}`,
    ...(deployed === undefined ? [] : [connectQuery(deployed)]),
  ].join(' ');
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    ...(process.getuid?.() === 0 && { user: 'nobody' }),
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, ['[databases]', entry, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o644 });
  const name = `pgbouncer-${port}`;
  const started = await processes.start({
    name,
    command: program.command,
    args: [...program.args, file],
    env: program.env,
    output: processes.logs.open(name),
    stage: 2,
    stop: [
      ['SIGINT', 1000],
      ['SIGKILL', 300],
    ],
  });
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String(port);
  const isEncrypted = settings['client_tls_sslmode'] === 'require';
  await waitForAnswer('PgBouncer', started, processes.logs, () =>
    postgresFault(through.href, { isEncrypted }),
  );
  return { ...started, url: through.href, port };
}
