import { randomBytes } from 'node:crypto';
import { startProcess, testRedisUrl, untilReady, type StartedProcess } from '@onecode/testing';
import type { ConsoleEnvironment } from './console.js';

/**
 * The built console, which logs all that it can, on the database of another one, whose sessions are its own.
 *
 * @param sessionSecret of the other one
 */
export async function startLoudConsole(
  server: ConsoleEnvironment,
  sessionSecret: string,
): Promise<{ started: StartedProcess; url: string }> {
  const started = startProcess('apps/console/dist/main.js', {
    DATABASE_URL: server.db.url,
    REDIS_URL: testRedisUrl(),
    QUEUE_PREFIX: server.prefix,
    PORT: '0',
    METRICS_PORT: '0',
    BASE_URL: 'https://api.example.test',
    CONSOLE_URL: server.url,
    SESSION_SECRET: sessionSecret,
    SECRET_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'trace',
  });
  const { address } = await untilReady(started);
  return { started, url: `http://127.0.0.1:${(address as { port: number }).port}` };
}
