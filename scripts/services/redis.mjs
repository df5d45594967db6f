import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { UserError } from '../user-error.mjs';
import { redisFault, waitForAnswer } from './answer.mjs';
import { freePort } from './ports.mjs';

/** @typedef {{ command: string, env: NodeJS.ProcessEnv }} Program */

const advice =
  'Redis was not found. Install redis-server or valkey-server (Debian, Ubuntu: apt-get install redis-server; ' +
  'macOS: brew install redis), or set REDIS_URL, or use docker compose.';

/**
 * Starts a Redis of our own, with its data in the folder `redis` and a password made for this run, unless one is given.
 * @param {import('./services.mjs').ServiceOptions & { password?: string }} options
 * @returns {Promise<import('./services.mjs').Service>}
 */
export async function startRedis({
  processes,
  port: portBefore,
  throwaway,
  log,
  password = randomBytes(16).toString('hex'),
}) {
  const { command, env } = redisProgram(log);
  const dir = join(processes.folder, 'redis');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const port = await freePort(portBefore);
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const configuration = [
    `port ${port}`,
    'bind 127.0.0.1',
    `requirepass ${password}`,
    'maxmemory-policy noeviction',
    'save ""',
    `appendonly ${throwaway ? 'no' : 'yes'}`,
  ];
  const start = async () => {
    const started = await processes.start({
      name: 'redis',
      command,
      args: ['-'],
      env,
      cwd: dir,
      output: processes.logs.open('redis'),
      input: configuration.join('\n'),
      stage: 2,
      stop: [
        ['SIGTERM', 1000],
        ['SIGKILL', 300],
      ],
    });
    await waitForAnswer('Redis', started, processes.logs, () => redisFault(url));
    return started;
  };
  return { ...(await start()), url, port, restart: start };
}

/**
 * A Redis server to run: the one on PATH, else one unpacked into .cache from Debian's or Ubuntu's packages, which needs
 * neither root nor a change to the system.
 * @param {(line: string) => void} log
 * @returns {Program}
 * @throws {UserError} saying what to install
 */
function redisProgram(log) {
  for (const command of ['redis-server', 'valkey-server']) {
    if (runs({ command, env: process.env })) return { command, env: process.env };
  }
  const folder = join(root, '.cache', `redis-${process.arch}`);
  const kept = unpackedProgram(folder);
  if (kept) return kept;
  log('Redis is not installed: fetching the package of this system into .cache …');
  fetchPackages(folder);
  const fetched = unpackedProgram(folder);
  if (!fetched) throw new UserError(advice);
  return fetched;
}

/** @param {Program} program */
function runs({ command, env }) {
  return spawnSync(command, ['--version'], { env, stdio: 'ignore' }).status === 0;
}

/**
 * @param {string} folder
 * @returns {Program | undefined}
 */
function unpackedProgram(folder) {
  if (!existsSync(folder)) return undefined;
  const libraries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.includes('.so'))
    .map((entry) => entry.parentPath ?? entry.path);
  const env = { ...process.env, LD_LIBRARY_PATH: [...new Set(libraries)].join(':') };
  return ['redis-server', 'valkey-server']
    .map((name) => ({ command: join(folder, 'usr/bin', name), env }))
    .find(runs);
}

/**
 * Downloads a server's package and what it needs that this system lacks: with the system's package lists, and failing that
 * with lists of our own. (A container often has no lists, and old ones name packages that are gone.)
 * @param {string} folder
 */
function fetchPackages(folder) {
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const own = join(fresh, 'apt');
  for (const part of ['lists/partial', 'cache/archives/partial', 'packages']) {
    mkdirSync(join(own, part), { recursive: true });
  }
  const downloads = join(own, 'packages');
  const ownLists = [
    `Dir::State=${own}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${join(own, 'cache')}`,
  ];
  const found =
    download(downloads, []) ||
    (apt(['update'], ownLists, downloads) !== undefined && download(downloads, ownLists));
  if (!found) {
    rmSync(fresh, { recursive: true, force: true });
    throw new UserError(advice);
  }
  for (const file of readdirSync(downloads)) {
    execFileSync('dpkg', ['-x', join(downloads, file), fresh], { stdio: 'pipe' });
  }
  rmSync(own, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

/**
 * @param {string} folder
 * @param {string[]} options
 * @returns {boolean} whether the package of a server, and of all it needs, is there
 */
function download(folder, options) {
  return ['redis-server', 'valkey-server'].some((name) => {
    const plan = apt(['--simulate', '--no-install-recommends', 'install', name], options, folder);
    const names = plan?.match(/^Inst \S+/gm)?.map((line) => line.slice('Inst '.length));
    return names !== undefined && apt(['download', ...names], options, folder) !== undefined;
  });
}

/**
 * @param {string[]} args
 * @param {string[]} options
 * @param {string} cwd
 * @returns {string | undefined} its output, or undefined when it failed
 */
function apt(args, options, cwd) {
  const always = ['Debug::NoLocking=1', 'Acquire::Retries=1', 'Acquire::http::Timeout=20'];
  const flags = [...always, ...options].flatMap((option) => ['-o', option]);
  const { status, stdout } = spawnSync('apt-get', ['-q', ...flags, ...args], { cwd, encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
