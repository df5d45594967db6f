import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '@onecode/testing';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ModuleProcess {
  /** Waits until standard output contains this. */
  untilOutput: (text: string) => Promise<void>;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<Ended>;
}

const running = new Set<ChildProcess>();

/** Kills the processes that a failed test has left running. */
export function killModules(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs the text of a module as a separate process, with `@onecode/runtime` as the built package. */
export function startModule(source: string, env: Readonly<Record<string, string>> = {}): ModuleProcess {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { cwd: ROOT, env });
  running.add(child);
  const output: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output.stderr += chunk));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      running.delete(child);
      resolve({ ...output, code });
    });
  });
  return {
    untilOutput: async (text) =>
      void (await until('the text on standard output', () => output.stdout.includes(text))),
    kill: (signal) => child.kill(signal),
    ended,
  };
}

/** Parses the lines of a log. @throws unless each line is JSON */
export function linesOf(output: string): Record<string, unknown>[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
