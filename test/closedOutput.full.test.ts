import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { closedPort, until, useTestEnvironment } from '@onecode/testing';

const environment = useTestEnvironment();
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLI = 'apps/cli/dist/main.js';
const MIGRATE = 'packages/store/dist/migrate.js';

interface Ended {
  code: number | null;
  output: string;
}

/** Starts Node with a standard stream that has no reader from the beginning. */
function startClosed(args: readonly string[], closed: 'stdout' | 'stderr', env: Record<string, string> = {}) {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [...args], {
    cwd: ROOT,
    env: { PATH, DATABASE_URL: environment.db.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child[closed].destroy();
  let output = '';
  const open = closed === 'stdout' ? child.stderr : child.stdout;
  open.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, output })));
  return { child, ended };
}

describe('a command with a closed output', () => {
  it.each([
    [0, CLI, '--help'],
    [0, CLI, '--version'],
    [0, CLI, 'settings get'],
    [0, CLI, 'settings get --json'],
    [1, CLI, 'doctor'],
    [0, MIGRATE, ''],
  ])('ends silently with the exit code %i: %s %s', async (code, path, words) => {
    const args = words === '' ? [] : words.split(' ');
    expect(await startClosed([path, ...args], 'stdout').ended).toEqual({ code, output: '' });
  });

  it.each([
    [2, CLI, 'no-such-command'],
    [1, CLI, 'account show 01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f'],
    [1, MIGRATE, '--no-such-option'],
  ])(
    'ends silently with the exit code %i if its error output is closed: %s %s',
    async (code, path, words) => {
      expect(await startClosed([path, ...words.split(' ')], 'stderr').ended).toEqual({ code, output: '' });
    },
  );

  it('ends silently with the exit code 0 if it imports scripts/closed-output.mjs', async () => {
    const script =
      "import './scripts/closed-output.mjs'; setTimeout(() => console.log(1), 250); setTimeout(() => console.log(2), 500)";
    const args = ['--input-type=module', '--eval', script];
    expect(await startClosed(args, 'stdout').ended).toEqual({ code: 0, output: '' });
  });
});

it.each([
  ['onecode', [CLI, 'settings', 'get']],
  ['migrate', [MIGRATE]],
])('%s reports in one line a result that cannot be written', async (name, args) => {
  const child = spawn('sh', ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, ...args], {
    cwd: ROOT,
    env: { DATABASE_URL: environment.db.url },
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(1);
  expect(errors).toBe(`${name}: the result could not be written to standard output (ENOSPC)\n`);
});

it('the API keeps running when the reader of its log ends', async () => {
  const key = Buffer.alloc(32, 1).toString('base64');
  const port = String(await closedPort());
  const { child, ended } = startClosed(['apps/api/dist/main.js'], 'stdout', {
    ...environment.variables,
    BASE_URL: 'http://localhost:3000',
    CODE_PEPPER: key,
    SECRET_KEY: key,
    WHATSAPP_APP_SECRET: 'secret',
    WHATSAPP_VERIFY_TOKEN: 'token',
    PORT: '0',
    METRICS_PORT: port,
    LOG_LEVEL: 'trace',
  });
  const isLive = async () => (await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null))?.ok === true;
  await until('an answer', isLive, 60_000);
  child.kill('SIGTERM');
  expect(await ended).toEqual({ code: 0, output: '' });
});
