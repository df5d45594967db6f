import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { run } from '../src/program.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the built program with these variables and no others, to its end.
 *
 * @param cwd a folder where `npm start` does not run, unless told
 */
export function onecode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
  cwd = tmpdir(),
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], { env, cwd });
    const ended: Ended = { code: null, stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (ended.stdout += chunk));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (ended.stderr += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ ...ended, code }));
    // A program that does not read its input closes it.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** Runs a command in this process: far quicker, for what is answered before any variable is read. */
export async function onecodeHere(args: readonly string[]): Promise<Ended> {
  const ended: Ended = { code: null, stdout: '', stderr: '' };
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
  try {
    ended.code = await run(args);
    return ended;
  } finally {
    for (const restore of restores) restore();
  }
}

/** What a command that must succeed prints with `--json`, held to be one line and nothing else. */
export async function jsonOf(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input?: string,
): Promise<unknown> {
  const ended = await onecode([...args, '--json'], env, input);
  expect(ended).toEqual({ code: 0, stdout: expect.stringMatching(/^[{[].*[}\]]\n$/), stderr: '' });
  return JSON.parse(ended.stdout);
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
