import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './ports.mjs';
import { ready } from './postgres.mjs';
import { redisFault } from './reachable.mjs';
import { redisProgram } from './redis-program.mjs';

/**
 * Starts a Redis of our own, with its data in the folder `redis` and a password made for this run, unless one is given.
 * @param {import('./postgres.mjs').Wanted & { password?: string }} wanted
 * @returns {Promise<import('./postgres.mjs').Service>}
 */
export async function startRedis({
  processes,
  port: wantedPort,
  throwaway,
  say,
  password = randomBytes(16).toString('hex'),
}) {
  const { folder } = processes;
  const { command, env } = redisProgram(say);
  const dir = join(folder, 'redis');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const port = await freePort(wantedPort);
  const log = join(folder, 'redis.log');
  const started = await processes.start({
    name: 'redis',
    command,
    args: ['-'],
    env,
    cwd: dir,
    output: openSync(log, 'w', 0o600),
    input: [
      `port ${port}`,
      'bind 127.0.0.1',
      `requirepass ${password}`,
      'maxmemory-policy noeviction',
      'save ""',
      `appendonly ${throwaway ? 'no' : 'yes'}`,
    ].join('\n'),
    stage: 2,
    stop: [
      ['SIGTERM', 1000],
      ['SIGKILL', 300],
    ],
  });
  const url = `redis://:${password}@127.0.0.1:${port}`;
  await ready('Redis', started, log, () => redisFault(url));
  return { ...started, url, port };
}
