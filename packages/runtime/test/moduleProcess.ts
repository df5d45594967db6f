import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { until } from '../../../test/harness/until.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Script {
  /** Waits until standard output holds this. */
  says: (text: string) => Promise<void>;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<Ended>;
}

const running = new Set<ChildProcess>();

/** Ends what a test that failed has left running. */
export function endScripts(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Runs a module's text in a process of its own, in which `@onecode/runtime` is the built package. */
export function startScript(source: string, env: Readonly<Record<string, string>> = {}): Script {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { cwd: ROOT, env });
  running.add(child);
  const heard: Ended = { code: null, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (heard.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (heard.stderr += chunk));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      running.delete(child);
      resolve({ ...heard, code });
    });
  });
  return {
    says: async (text) =>
      void (await until('the words on standard output', () => heard.stdout.includes(text))),
    kill: (signal) => child.kill(signal),
    ended,
  };
}

/** The lines of a log, each held to be one JSON object. */
export function linesOf(output: string): Record<string, unknown>[] {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
