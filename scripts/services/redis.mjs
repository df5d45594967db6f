import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../checkout.mjs';
import { UserError } from '../user-error.mjs';
import { redisFault, waitForAnswer } from './answer.mjs';
import { fetchPackages, librariesIn } from './packages.mjs';
import { freePort } from './ports.mjs';

/** @typedef {{ command: string, env: NodeJS.ProcessEnv }} Program */

const advice =
  'Redis was not found. Install redis-server or valkey-server (Debian, Ubuntu: apt-get install redis-server; ' +
  'macOS: brew install redis), or set REDIS_URL, or use docker compose.';

const stop = /** @type {[NodeJS.Signals, number][]} */ ([
  ['SIGTERM', 1000],
  ['SIGKILL', 300],
]);

/**
 * Starts a Redis with its data in the folder `redis` and, by default, a password generated for this run.
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
      stop,
    });
    await waitForAnswer('Redis', started, processes.logs, () => redisFault(url));
    return started;
  };
  return { ...(await start()), url, port, restart: start };
}

/**
 * Starts a Redis server, a sentinel or a node of a cluster, which keeps its configuration in a file and changes it there. A server that was
 * started before continues with the configuration that it wrote.
 * @param {object} options
 * @param {import('../processes/processes.mjs').Processes} options.processes
 * @param {string} options.name of its folder
 * @param {readonly string[]} options.settings lines of its first configuration
 * @param {boolean} [options.isSentinel]
 * @param {(line: string) => void} options.log
 * @returns {Promise<import('../processes/processes.mjs').Started>} it may not answer yet
 */
export async function startRedisServer({ processes, name, settings, isSentinel = false, log }) {
  const { command, env } = redisProgram(log);
  const dir = join(processes.folder, name);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, 'redis.conf');
  if (!existsSync(file)) writeFileSync(file, [`dir ${dir}`, ...settings, ''].join('\n'), { mode: 0o600 });
  const args = isSentinel ? [file, '--sentinel'] : [file];
  return processes.start({
    name,
    command,
    args,
    env,
    cwd: dir,
    output: processes.logs.open(name),
    stage: 2,
    stop,
  });
}

/**
 * Returns a Redis server to run: the one on PATH, or else one unpacked into .cache from Debian's or Ubuntu's packages, which needs neither
 * root nor a change to the system.
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
  log('Redis is not installed: downloading the package of this system into .cache …');
  const isFetched = ['redis-server', 'valkey-server'].some((name) => fetchPackages(folder, name));
  const fetched = isFetched ? unpackedProgram(folder) : undefined;
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
  const env = { ...process.env, LD_LIBRARY_PATH: librariesIn(folder).join(':') };
  return ['redis-server', 'valkey-server']
    .map((name) => ({ command: join(folder, 'usr/bin', name), env }))
    .find(runs);
}
