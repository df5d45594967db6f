import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import { resolve } from 'node:path';
import { until } from '@onecode/testing';
import { findKeptServices } from '../scripts/test/testServices.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const JEST = resolve(ROOT, 'node_modules/jest/bin/jest.js');
const RUN_MS_MAX = 120_000;
/** A test file that needs PostgreSQL. */
const TEST = 'packages/store/test/sends/receipts.test.ts';

/** The variables of a developer's shell, without those of the tests and of Node's options. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(?:TEST_|BROWSER_ENDPOINT|ALL_TESTS|JEST_|NODE_OPTIONS)/.test(name),
  ),
);
const runJest = (...args: string[]) =>
  spawnSync(process.execPath, [JEST, '--maxWorkers', '1', ...args], { cwd: ROOT, env, encoding: 'utf8' });

/** Whether a server accepts connections at an address. */
const isListening = (url: string): Promise<boolean> =>
  new Promise((settle) => {
    const { hostname, port } = new URL(url);
    const socket = createConnection(Number(port), hostname);
    socket.once('connect', () => settle(true)).once('error', () => settle(false));
    socket.unref();
  });

describe('Jest without npm test', () => {
  it(
    'starts the services of a file, and stops them',
    () => {
      const { status, stderr } = runJest(TEST);
      expect(stderr).toMatch(/^Tests: +\d+ passed/m);
      expect(status).toBe(0);
    },
    RUN_MS_MAX,
  );

  it(
    'fails when a test file does not exist',
    () => {
      expect(runJest('no/such.test.ts').status).toBe(1);
    },
    RUN_MS_MAX,
  );

  it(
    'finds the services that `npm run services` keeps until it is stopped',
    async () => {
      const args = ['scripts/run.mjs', 'services'];
      const services = spawn(process.execPath, args, {
        cwd: ROOT,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = new Promise((settle) => services.once('exit', settle));
      let output = '';
      services.stdout.on('data', (part: Buffer) => (output += part.toString()));
      await until('the services', () => output.includes('are ready'), RUN_MS_MAX);
      const kept = await findKeptServices();
      expect(kept).toMatchObject({
        TEST_DATABASE_URL: expect.any(String),
        TEST_REDIS_URL: expect.any(String),
      });
      const url = kept!['TEST_DATABASE_URL']!;
      expect(runJest(TEST).status).toBe(0);
      expect(await isListening(url)).toBe(true);
      services.kill('SIGTERM');
      expect(await exited).toBe(0);
      expect(await isListening(url)).toBe(false);
      expect(existsSync(resolve(ROOT, '.data/test-services.json'))).toBe(false);
    },
    RUN_MS_MAX,
  );
});
