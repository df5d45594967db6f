import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { TEST_PEPPER, useTestDatabase, type TestDatabase } from '@onecode/testing';
import { run } from '../src/program.js';

export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
export const SECRET_KEY = randomBytes(32).toString('base64');
/** From which `TEST_NUMBER_PEPPER` is derived. */
const CODE_PEPPER = TEST_PEPPER.keys.get(1)!.toString('base64');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Runs the built program with these variables and no others, to its end, in a folder where `npm start` does not run unless told. */
export function onecodeProcess(
  args: readonly string[],
  env: Environment = {},
  cwd = tmpdir(),
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (ended.stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (ended.stderr += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...ended, code }));
  });
}

/** Runs a command in this process, which takes a thirtieth of the time; one at a time. */
export async function onecode(args: readonly string[], env: Environment = {}, input = ''): Promise<Ended> {
  const ended: Ended = { code: null, stdout: '', stderr: '' };
  const before = { env: process.env, stdin: process.stdin, cwd: process.cwd() };
  const restores = (['stdout', 'stderr'] as const).map((name) => {
    const write = process[name].write.bind(process[name]);
    process[name].write = (chunk: string | Uint8Array): boolean => {
      ended[name] += String(chunk);
      return true;
    };
    return () => {
      process[name].write = write;
    };
  });
  const setStandardInput = (value: unknown): unknown =>
    Object.defineProperty(process, 'stdin', { value, configurable: true });
  process.env = { ...env };
  // `npm start` may run in the repository, and would give its variables.
  process.chdir(tmpdir());
  setStandardInput(Readable.from([Buffer.from(input)]));
  try {
    ended.code = await run(args);
    return ended;
  } finally {
    process.env = before.env;
    process.chdir(before.cwd);
    setStandardInput(before.stdin);
    for (const restore of restores) restore();
  }
}

/** Words as they are typed, with spaces between them; those that hold spaces follow one by one. */
type Typed = [words: string, ...more: string[]];
export const argsOf = ([words, ...more]: Typed): string[] => [...words.split(' '), ...more];

/** The command line on a test database of its own. */
export interface CommandLine {
  readonly store: Omit<TestDatabase, 'drop'>;
  readonly env: Record<string, string>;
  /** What a command that must succeed prints with `--json`, held to be one line and nothing else. */
  json: <Result = Record<string, unknown>>(...typed: Typed) => Promise<Result>;
  /** The same with this on its standard input. */
  jsonWith: <Result = Record<string, unknown>>(input: string, ...typed: Typed) => Promise<Result>;
  /** What a command that must succeed prints without `--json`. */
  text: (...typed: Typed) => Promise<string>;
  /** Holds that a command cannot be done, says so in one line with `line`, and ends with 1. */
  expectFault: (line: RegExp | string, ...typed: Typed) => Promise<void>;
}

/** One for all tests of a file. Use it inside hooks and tests only. */
export function useCommandLine(): CommandLine {
  const store = useTestDatabase();
  const jsonWith: CommandLine['jsonWith'] = async <Result>(input: string, ...typed: Typed) => {
    const ended = await onecode([...argsOf(typed), '--json'], own.env, input);
    expect(ended).toEqual({ code: 0, stdout: expect.stringMatching(/^[{[].*[}\]]\n$/), stderr: '' });
    return JSON.parse(ended.stdout) as Result;
  };
  const own: CommandLine = {
    store,
    get env() {
      return { DATABASE_URL: store.url, CODE_PEPPER, SECRET_KEY };
    },
    jsonWith,
    json: (...typed) => jsonWith('', ...typed),
    async text(...typed) {
      const { code, stdout, stderr } = await onecode(argsOf(typed), own.env);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return stdout;
    },
    async expectFault(line, ...typed) {
      expectFault(await onecode(argsOf(typed), own.env), 1, line);
    },
  };
  return own;
}

/** One line on standard error with this, nothing on standard output, and this exit code. */
export function expectFault(ended: Ended, code: 1 | 2, line: RegExp | string): void {
  expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^onecode: [^\n]+\n$/) });
  expect(ended.stderr).toMatch(line);
}

export const ID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
/** An id of nothing. */
export const UNKNOWN_ID = '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f';
