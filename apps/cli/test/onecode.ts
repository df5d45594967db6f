import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { TEST_PEPPER, useTestDatabase, type TestDatabase } from '@onecode/testing';
import { run } from '../src/program.js';

export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
export const SECRET_KEY = randomBytes(32).toString('base64');
/** `TEST_NUMBER_PEPPER` is derived from it. */
const CODE_PEPPER = TEST_PEPPER.keys.get(1)!.toString('base64');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Runs the built program to its end with only these variables. @param cwd by default a folder without a running `npm start` */
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

/**
 * Runs a command in this process, 30 times as fast. Commands must not overlap.
 *
 * @param isTerminal whether the input is typed at a terminal
 * @param cwd by default a folder without a running `npm start`
 */
export async function onecode(
  args: readonly string[],
  env: Environment = {},
  input = '',
  isTerminal = false,
  cwd = tmpdir(),
): Promise<Ended> {
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
  // `npm start` may be running in the repository and would add its variables.
  process.chdir(cwd);
  setStandardInput(Object.assign(Readable.from([Buffer.from(input)]), { isTTY: isTerminal }));
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

/** Typed words separated by spaces, then one argument each for words that contain spaces. */
type Typed = [words: string, ...more: string[]];
export const argsOf = ([words, ...more]: Typed): string[] => [...words.split(' '), ...more];

/** The command line on its own test database. */
export interface CommandLine {
  readonly store: Omit<TestDatabase, 'drop'>;
  readonly env: Record<string, string>;
  /** Runs a command with `--json` that must succeed and print exactly one line. @returns the parsed line */
  json: <Result = Record<string, unknown>>(...typed: Typed) => Promise<Result>;
  /** As `json`, with standard input. */
  jsonWith: <Result = Record<string, unknown>>(input: string, ...typed: Typed) => Promise<Result>;
  /** Runs a command without `--json` that must succeed. @returns its output */
  text: (...typed: Typed) => Promise<string>;
  /** Expects a command to fail with exit code 1 and one line that matches `line`. */
  expectFault: (line: RegExp | string, ...typed: Typed) => Promise<void>;
}

/** Returns the command line for all tests of a file. Use it only inside hooks and tests. */
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

/** Expects this exit code, one matching line on standard error and no standard output. */
export function expectFault(ended: Ended, code: 1 | 2, line: RegExp | string): void {
  expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^onecode: [^\n]+\n$/) });
  expect(ended.stderr).toMatch(line);
}

export const ID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as string;
export const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
/** An id that nothing has. */
export const UNKNOWN_ID = '01990c1e-7c5a-7d2b-9a53-6f0d3b1c2e4f';
