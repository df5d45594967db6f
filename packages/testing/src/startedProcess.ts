import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runningUntilEnd } from './running.js';
import { until } from './until.js';

/** A built program of this repository, running as a separate process. */
export interface StartedProcess {
  readonly pid: number;
  /** Returns its output so far, standard output and standard error. */
  output(): string;
  stdout(): string;
  stderr(): string;
  /** Returns its log lines so far. */
  log(): LogLine[];
  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGINT' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Returns how it has ended; null while it runs. */
  ended(): Exit | null;
  /** Resolves when it has ended and all its output has been read. */
  readonly exited: Promise<Exit>;
  /** Stops it with SIGTERM, and with SIGKILL after 11 seconds. */
  stop(): Promise<Exit>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type LogLine = Readonly<Record<string, unknown>> & { msg?: string };

const STOP_MS_MAX = 11_000;
/** Long, because several processes may start at the same time on a busy machine. */
const READY_MS_MAX = 60_000;
const ROOT = new URL('../../../', import.meta.url);
const running = runningUntilEnd<ChildProcess>((child) => void child.kill('SIGKILL'));

/**
 * Starts a program with only `PATH` and these environment variables. Without `HOST`, it listens on this machine only.
 *
 * @param path the program's path, relative to the repository
 */
export function startProcess(
  path: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): StartedProcess {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [fileURLToPath(new URL(path, ROOT)), ...args], {
    env: { PATH, HOST: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  let stdout = '';
  let stderr = '';
  let exit: Exit | null = null;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
    stderr += chunk;
  });
  const exited = new Promise<Exit>((resolve) =>
    child.on('close', (code, signal) => {
      running.delete(child);
      exit = { code, signal };
      resolve(exit);
    }),
  );
  const signal = (name: NodeJS.Signals): void => void child.kill(name);
  return {
    pid: child.pid ?? 0,
    output: () => output,
    stdout: () => stdout,
    stderr: () => stderr,
    log: () => linesOf(stdout),
    signal,
    ended: () => exit,
    exited,
    async stop() {
      signal('SIGTERM');
      const timer = setTimeout(() => signal('SIGKILL'), STOP_MS_MAX);
      const end = await exited;
      clearTimeout(timer);
      return end;
    },
  };
}

function linesOf(stdout: string): LogLine[] {
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Waits for the log line `ready`, and returns it. @throws Error with the process's output if the process ends first */
export async function untilReady(started: StartedProcess): Promise<LogLine> {
  const look = (): LogLine | undefined => {
    if (started.ended() !== null) throw new Error(`the process ended:\n${started.output()}`);
    return started.log().find(({ msg }) => msg === 'ready');
  };
  return until('a ready process', look, READY_MS_MAX);
}
