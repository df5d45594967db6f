import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { closedPort, testRedisUrl, until } from '@onecode/testing';
import { isSupportedNode } from '../scripts/node-version.mjs';
import { Processes } from '../scripts/processes/processes.mjs';
import { startServices } from '../scripts/services/services.mjs';
import { readEnvFile } from '../scripts/start/settings.mjs';
import { needsOf, slowestFiles, summarise } from '../scripts/test/test.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-scripts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['14.21.3', false],
  ['18.20.4', false],
  ['20.18.3', false],
  ['20.19.0', true],
  ['21.7.3', false],
  ['22.11.0', false],
  ['22.12.0', true],
  ['23.0.0', true],
  ['24.4.1', true],
])('isSupportedNode(%s) returns %s', (version, supported) => {
  expect(isSupportedNode(version)).toBe(supported);
});

it('npm run generate compiles the packages that its scripts import', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { generate: string } };
  const steps = scripts.generate.split(' && ');
  const compiled = steps.findIndex((step) => step.startsWith('tsc -b '));
  const imported = importsOf(steps.slice(compiled + 1).map((step) => step.replace('node ', '')));
  expect(steps[compiled]!.split(' ').slice(2)).toEqual(imported.map((name) => `packages/${name}`));
  expect(importsOf(steps.slice(0, compiled).map((step) => step.replace('node ', '')))).toEqual([]);
});

/** Returns the packages of this repository that scripts load at start, directly or indirectly. */
function importsOf(files: readonly string[]): string[] {
  const seen = new Set(files);
  const packages = new Set<string>();
  for (const file of seen)
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/^(?:import|\} from) .*?'([^']+)';$/gm))
      if (name!.startsWith('.')) seen.add(join(file, '..', name!));
      else if (name!.startsWith('@onecode/')) packages.add(name!.split('/')[1]!);
  return [...packages].toSorted();
}

it('npm start reads an .env file with a byte order mark and CRLF', () => {
  const file = join(folder, '.env');
  writeFileSync(file, '\ufeffONECODE_TEST_ONE=a b \r\n# comment\r\nONECODE_TEST_TWO="c"\r\nPATH=leaked\r\n');
  const before = process.env['PATH'];
  readEnvFile(file);
  const { ONECODE_TEST_ONE, ONECODE_TEST_TWO, PATH } = process.env;
  delete process.env['ONECODE_TEST_ONE'];
  delete process.env['ONECODE_TEST_TWO'];
  expect([ONECODE_TEST_ONE, ONECODE_TEST_TWO, PATH]).toEqual(['a b', 'c', before]);
});

it('npm start reports all faults of the given services', async () => {
  const { DATABASE_URL, REDIS_URL } = process.env;
  const faultOf = async (given: Record<string, string>): Promise<string> => {
    Object.assign(process.env, given);
    const ended = startServices({ processes: { folder } as Processes, throwaway: true, log: () => {} });
    return ended.then(
      () => 'none',
      (error: unknown) => `${(error as Error).name}: ${(error as Error).message}`,
    );
  };
  try {
    const unreadable = { DATABASE_URL: 'postgres://u:lea#ked@h/d', REDIS_URL: 'redis://:50%leaked@h' };
    expect(await faultOf(unreadable)).toMatch(
      /^UserError: DATABASE_URL must have a valid .*\nREDIS_URL must have a valid [^\n]*$/,
    );
    const port = await closedPort();
    const away = {
      DATABASE_URL: `postgres://u:leaked@127.0.0.1:${port},127.0.0.1:${port}/d`,
      REDIS_URL: `redis://:leaked@127.0.0.1:${port}`,
    };
    const fault = await faultOf(away);
    expect(fault).toMatch(/^UserError: DATABASE_URL: connect ECONNREFUSED .*\.\nREDIS_URL: Redis at 127/);
    expect(fault).not.toContain('leaked');
    expect(
      await faultOf({ DATABASE_URL: process.env['TEST_DATABASE_URL']!, REDIS_URL: testRedisUrl() }),
    ).toBe('none');
  } finally {
    for (const [name, value] of Object.entries({ DATABASE_URL, REDIS_URL }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  }
});

describe('npm test', () => {
  it('builds all packages for all tests', () => {
    expect(needsOf([])).toEqual({ site: true, console: true });
  });

  it.each([
    ['packages/domain/test/sends/retry.test.ts', false, false],
    ['apps/cli/test/accounts.test.ts', false, false],
    ['apps/api/test/docs.test.ts', true, false],
    ['packages/client/test/verify.test.ts', true, false],
    ['apps/console/test/pages/everyPage.full.test.ts', false, true],
    ['test/journey.test.ts', true, true],
    ['./test/journey.test.ts', true, true],
  ])('builds for %s the site: %s, and the console: %s', (file, site, console) => {
    expect(needsOf([file])).toEqual({ site, console });
  });

  it('runs in a folder with a name that is not a regular expression', () => {
    const root = join(folder, 'c++');
    mkdirSync(root);
    for (const name of ['scripts', 'jest.config.mjs']) cpSync(name, join(root, name), { recursive: true });
    const script = `
      import { needsOf } from './scripts/test/test.mjs';
      import config from './jest.config.mjs';
      const [ignored] = config.modulePathIgnorePatterns.map((one) => one.replace('<rootDir>', process.cwd()));
      console.log(needsOf(['a.test.ts']).site, new RegExp(ignored).test(process.cwd() + '/.cache/a.ts'));`;
    const args = ['--input-type=module', '-e', script];
    expect(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })).toBe('true true\n');
  });
});

describe('the summary of a test run', () => {
  const results = (counts: object): string => {
    const file = join(folder, 'results.json');
    const none = {
      numPassedTests: 0,
      numFailedTests: 0,
      numRuntimeErrorTestSuites: 0,
      numPendingTests: 0,
      numTodoTests: 0,
    };
    writeFileSync(file, JSON.stringify({ ...none, ...counts }));
    return file;
  };

  it("matches Jest's counts", () => {
    expect(summarise(results({ numPassedTests: 7, numPendingTests: 2, numTodoTests: 1 }), true)).toEqual({
      passed: 7,
      failed: 0,
      skipped: 3,
    });
  });

  it('counts a file that could not run as a failure', () => {
    const file = results({ numPassedTests: 7, numFailedTests: 1, numRuntimeErrorTestSuites: 2 });
    expect(summarise(file, false)).toMatchObject({ passed: 7, failed: 3 });
  });

  it.each([
    ['no test ran', {}, true],
    ['Jest ended badly', { numPassedTests: 7 }, false],
  ])('never reports 0 failed when %s', (_, counts, endedWell) => {
    expect(summarise(results(counts), endedWell).failed).toBeGreaterThan(0);
  });

  it('names the slowest files', () => {
    const root = fileURLToPath(new URL('..', import.meta.url));
    const took = (seconds: number) => ({
      name: join(root, `test/${seconds}.test.ts`),
      startTime: 5_000,
      endTime: 5_000 + seconds * 1_000,
    });
    const file = results({ testResults: Array.from({ length: 12 }, (_, n) => took(n)) });
    const slowest = slowestFiles(file);
    expect(slowest).toHaveLength(10);
    expect(slowest.slice(0, 2)).toEqual([
      { file: 'test/11.test.ts', seconds: 11 },
      { file: 'test/10.test.ts', seconds: 10 },
    ]);
  });

  it('is a failure when Jest wrote no result', () => {
    expect(summarise(join(folder, 'none.json'), true)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  });
});

it('Processes.claim names a folder that it cannot use', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(Processes.claim(file)).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining(`${file} cannot be used (EEXIST)`) as string,
  });
});

it('the guard of a killed run stops its processes, and removes the addresses for the command line', async () => {
  const environment = join(folder, 'environment.json');
  writeFileSync(environment, '{}');
  const script = `
    import { Processes } from ${JSON.stringify(new URL('../scripts/processes/processes.mjs', import.meta.url).href)};
    const processes = await Processes.claim(${JSON.stringify(folder)});
    const { child } = await processes.start({
      name: 'child', command: process.execPath, args: ['-e', 'console.log(process.pid); setInterval(() => {}, 1000)'],
      env: process.env, cwd: ${JSON.stringify(folder)}, output: 'inherit', stage: 1, stop: [['SIGTERM', 2000]],
    });
    setInterval(() => {}, 1000);
  `;
  const run = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(run.stdout, 'data')) as [Buffer];
  const child = Number(line.toString().trim());
  expect(isAlive(child)).toBe(true);
  run.kill('SIGKILL');
  await until('the end of the child', () => !isAlive(child));
  await until('the end of the addresses', () => !existsSync(environment));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
