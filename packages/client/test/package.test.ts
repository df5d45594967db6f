import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closedPort } from '@onecode/testing';
import { npm } from '../../../scripts/checkout.mjs';
import { clientTypes } from '../../../scripts/client-types.mjs';
import { VERSION } from '../src/version.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const PACKED_BYTES_MAX = 32_000;
const UNCAUGHT_CHARACTERS_MAX = 1_500;
const isLongRun = process.env['ALL_TESTS'] === '1';
const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as Record<string, unknown>;

/** An empty project in another folder, with the packed package installed. */
let project: string;
let packed: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'onecode-integrator-'));
  const [made] = JSON.parse(runNpm(PACKAGE, 'pack', '--json', '--pack-destination', project)) as [
    { filename: string },
  ];
  packed = join(project, made.filename);
  write('package.json', '{ "name": "integrator", "private": true, "type": "module" }');
  runNpm(project, 'install', '--offline', '--ignore-scripts', packed);
}, 120_000);
afterAll(() => rmSync(project, { recursive: true, force: true }));

function runNpm(cwd: string, ...words: string[]): string {
  const { command, args } = npm([...words, '--loglevel=error']);
  return execFileSync(command, args, { cwd, encoding: 'utf8' });
}

const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

describe('the package', () => {
  it('is smaller than 32 kB', () => {
    expect(statSync(packed).size).toBeLessThan(PACKED_BYTES_MAX);
  });

  it('has no dependencies, and contains the README but no sources', () => {
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
      expect(manifest[kind]).toBeUndefined();
    expect(existsSync(join(project, 'node_modules/@onecode/client/README.md'))).toBe(true);
    expect(existsSync(join(project, 'node_modules/@onecode/client/src'))).toBe(false);
  });

  it("contains the repository's license", () => {
    const given = join(project, 'node_modules/@onecode/client/LICENSE');
    expect(readFileSync(given, 'utf8')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
    expect(manifest['license']).toBe('Apache-2.0');
  });

  it('has the version of package.json in VERSION', () => {
    expect(VERSION).toBe(manifest['version']);
  });

  it('exports the same classes to import and to require', () => {
    write(
      'both.mjs',
      `import * as esm from '@onecode/client';
       import * as esmTesting from '@onecode/client/testing';
       import { createRequire } from 'node:module';
       const require = createRequire(import.meta.url);
       const cjs = require('@onecode/client');
       console.log(Object.keys(cjs).sort().join(), Object.keys(cjs).every((name) => cjs[name] === esm[name]));
       console.log(require('@onecode/client/testing').startOnecode === esmTesting.startOnecode);`,
    );
    const output = execFileSync(process.execPath, ['both.mjs'], { cwd: project, encoding: 'utf8' });
    expect(output).toBe(
      'ConnectionError,IndeterminateVerificationError,Onecode,OnecodeError,ProblemError,addSendId,normalizeCode true\ntrue\n',
    );
  });
});

describe('onecode-double', () => {
  const COMMAND = join('node_modules', '.bin', 'onecode-double');

  it('serves the API and the control interface, and exits with 0 after SIGTERM', async () => {
    const [port, control] = [await closedPort(), await closedPort()];
    const args = [
      '--host',
      '0.0.0.0',
      '--port',
      String(port),
      '--control-port',
      String(control),
      '--live-key',
      'ak_live_own',
    ];
    const double = spawn(join(project, COMMAND), args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(double, 'exit');
    try {
      const [line] = (await once(double.stdout, 'data')) as [Buffer];
      expect(line.toString()).toBe(
        `The test double is ready at http://127.0.0.1:${port}, its control port is ${control}.\n`,
      );
      // Another address of this machine, like the address of another container.
      const post = async (path: string, body = '{}', on = control, key = ''): Promise<unknown> => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
        const response = await fetch(`http://127.0.0.2:${on}${path}`, { method: 'POST', headers, body });
        return response.ok ? response.json() : [response.status, await response.text()];
      };
      const to = '+447700900123';
      const { live } = (await post('/keys', '')) as { live: string };
      expect(live).toBe('ak_live_own');
      expect(
        await post('/script', JSON.stringify({ to, outcomes: [{ verification: 'locked' }] })),
      ).toBeNull();
      const { id } = (await post('/v1/send', JSON.stringify({ to }), port, live)) as { id: string };
      const code = (await post('/code', JSON.stringify({ to }))) as string;
      expect(await post('/sends')).toMatchObject([{ id, to, code, verification: 'locked' }]);
      expect(await post('/advance', '{"seconds":-1}')).toEqual([400, expect.stringContaining('RangeError')]);
      expect(await post('/advance', '{"minutes":1}')).toEqual([
        400,
        expect.stringContaining('seconds must be'),
      ]);
      for (const [script, fault] of [
        [{ to, outcomes: [{ answer: 'bogus' }] }, 'answer must be one of'],
        [{ to, outcome: { answer: 'lost' } }, 'outcomes must be an array'],
        [{ outcomes: [] }, 'not a phone number'],
      ] as const)
        expect(await post('/script', JSON.stringify(script))).toEqual([400, expect.stringContaining(fault)]);
      expect(await post('/sent')).toEqual([404, expect.stringContaining('/keys, /script')]);
    } finally {
      double.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  });

  it.each([
    ['--help', 0, 'stdout'],
    ['--prot', 1, 'stderr'],
    ['--port=x', 1, 'stderr'],
  ] as const)('prints its usage for %s', (argument, code, stream) => {
    const run = spawnSync(join(project, COMMAND), [argument], { encoding: 'utf8' });
    expect([run.status, run[stream]]).toEqual([code, expect.stringContaining('Usage: onecode-double')]);
  });
});

describe('an uncaught error', () => {
  it.each([
    [
      'from the constructor',
      `import { Onecode } from '@onecode/client'; new Onecode({ apiKey: 'x', baseUrl: 'https://x' });`,
    ],
    [
      'from a call',
      `import { Onecode } from '@onecode/client';
       const options = { apiKey: 'ak_test_1', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 };
       await new Onecode(options).send({ to: '+447700900123' });`,
    ],
    [
      'from the test double',
      `import { startOnecode } from '@onecode/client/testing'; await startOnecode({ port: 70_000 });`,
    ],
  ])('prints a short message and source line: %s', (_, program) => {
    write('uncaught.mjs', program);
    const { status, stderr } = spawnSync(process.execPath, ['uncaught.mjs'], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/Error/);
    expect(stderr.length).toBeLessThan(UNCAUGHT_CHARACTERS_MAX);
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(250);
  });
});

const PROGRAM_OF_TYPES = `
import {
  ConnectionError,
  IndeterminateVerificationError,
  Onecode,
  OnecodeError,
  ProblemError,
  type Send,
  type VerifyResult,
} from '@onecode/client';
import { startOnecode, type OnecodeServer, type Outcome } from '@onecode/client/testing';

export const onecode = new Onecode({ apiKey: 'ak_test_1', baseUrl: 'https://codes.example.com', timeoutMs: 1, maxRetries: 0 });
export async function withDouble(to: string): Promise<string> {
  const server: OnecodeServer = await startOnecode({ credits: 0, delivery: { status: 'sent' } });
  const outcomes: Outcome[] = [{ status: 'read', afterMs: 1 }, { verification: 'locked' }];
  server.script(to, ...outcomes, { answer: 'lost', on: 'verify', afterWork: true, times: 2 });
  // @ts-expect-error a failure has a reason
  server.script(to, { status: 'failed' });
  server.advance(1);
  await server.close();
  return server.keys.live + server.lastCode(to) + (server.sends[0]?.failure_reason ?? '');
}
export async function signIn(to: string, typed: string): Promise<boolean> {
  const send: Send = await onecode.send({ to, locale: 'pt-BR' }, { idempotencyKey: 'k' });
  const seen: Send = await onecode.waitFor(send.id, { until: 'delivered', onUpdate: ({ status }) => void status });
  if (seen.failure_reason === 'rejected_by_provider' || seen.failure_reason === 'of_a_later_release') return false;
  const ofALaterRelease: Pick<Send, 'channel' | 'failure_reason'> = { channel: 'sms', failure_reason: 'blocked' };
  // @ts-expect-error the contract adds no status
  if (seen.status === 'of_a_later_release' && ofALaterRelease) return false;
  const result: VerifyResult = await onecode.verify(send.id, typed);
  if (!result.valid) return result.attempts_left > 5 ? false : result.verification === 'locked';
  const success: 'verified' = result.verification;
  const left: 0 = result.attempts_left;
  return success === 'verified' && left === 0;
}
export function explain(error: unknown): string {
  if (error instanceof IndeterminateVerificationError) return error.sendId;
  if (error instanceof ConnectionError) return error.idempotencyKey ?? '';
  if (error instanceof ProblemError) {
    if (error.code === 'rate_limited') return String(error.retryAfterSeconds ?? 0);
    if (error.code === 'of_a_newer_service') return '';
    return error.errors?.['to'] ?? error.detail ?? error.requestId ?? '';
  }
  return error instanceof OnecodeError ? error.message : '';
}
// @ts-expect-error a client cannot choose the channel
export const wrong = onecode.send({ to: '+1', channel: 'sms' });
`;

describe('the types', () => {
  it('match the contract (npm run generate writes them)', () => {
    const written = readFileSync(join(PACKAGE, 'src/contract.ts'), 'utf8');
    expect(written).toBe(clientTypes());
  });

  const NODE = ['--module', 'nodenext', '--target', 'es2022'];
  const COMPILED: [string, string, string[]][] = [
    ['an ES module', 'types.mts', NODE],
    ['a CommonJS module', 'types.cts', NODE],
  ];
  const COMPILED_IN_LONG_RUNS: [string, string, string[]][] = [
    ['a CommonJS module of Node 16’s rules', 'types.cts', ['--module', 'node16', '--target', 'es2022']],
    ['a bundler', 'types.ts', ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022']],
    ['a bundler that makes CommonJS', 'types.ts', ['--module', 'commonjs', '--moduleResolution', 'bundler']],
    ['a program without the DOM and without Node’s types', 'types.mts', [...NODE, '--lib', 'es2022']],
    [
      'a program with the strictest options',
      'types.mts',
      [...NODE, '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
    ],
  ];

  it.each([...COMPILED, ...(isLongRun ? COMPILED_IN_LONG_RUNS : [])])('compile in %s', (_, file, options) => {
    write(file, PROGRAM_OF_TYPES);
    const words = [
      COMPILER,
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--types',
      '',
      ...options,
      file,
    ];
    const { status, stdout } = spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8' });
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });
});
