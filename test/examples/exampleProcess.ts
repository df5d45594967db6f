import { spawn, spawnSync } from 'node:child_process';
import { closedPort, until } from '@onecode/testing';
import { compileGo, compileJava, installAndBuild, installPackages, type Source } from './preparedExample.js';

/** How an example is built and started; `needs` is the program that must be on the machine. */
export interface Example extends Source {
  needs: string;
  /** It sends further requests on the connection of an earlier one. */
  keepsConnections?: true;
  /** It runs anew for each request, so that it has no start that could fail. */
  runsPerRequest?: true;
  command: (folder: string, port: number) => [string, ...string[]];
}

export const EXAMPLES: readonly Example[] = [
  {
    name: 'express',
    needs: 'node',
    keepsConnections: true,
    build: installPackages,
    command: () => ['node', 'server.js'],
  },
  {
    name: 'fastify',
    needs: 'node',
    keepsConnections: true,
    build: installPackages,
    command: () => ['node', 'server.js'],
  },
  {
    name: 'nestjs',
    needs: 'node',
    keepsConnections: true,
    build: installAndBuild,
    command: () => ['node', 'dist/main.js'],
  },
  {
    name: 'nextjs',
    needs: 'node',
    keepsConnections: true,
    build: installAndBuild,
    // Not through npm, which would leave the server behind when it is ended.
    command: () => ['node', 'node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
  },
  { name: 'python', needs: 'python3', command: () => ['python3', 'server.py'] },
  {
    name: 'php',
    needs: 'php',
    runsPerRequest: true,
    command: (_, port) => ['php', '-S', `127.0.0.1:${port}`, 'server.php'],
  },
  { name: 'go', needs: 'go', build: compileGo, command: () => ['./sign-in'] },
  {
    name: 'java',
    needs: 'javac',
    keepsConnections: true,
    build: compileJava,
    command: () => ['java', '-cp', 'classes', 'Server'],
  },
];

/** Whether the program answers on this machine. */
export const isInstalled = (program: string): boolean =>
  spawnSync(program, [program === 'go' ? 'version' : '--version'], { stdio: 'ignore' }).status === 0;

export interface RunningExample {
  url: string;
  /** What it has written. */
  output(): string;
  stop(): void;
}

const STARTS_MAX = 3;

/** Starts a prepared example against a service. */
export async function startExample(
  example: Example,
  folder: string,
  env: Record<string, string>,
): Promise<RunningExample> {
  for (let starts = 1; ; starts++) {
    const { running, output } = await startOnce(example, folder, env);
    if (running !== null) return running;
    // Somebody else may have taken the port since it was found free.
    if (starts === STARTS_MAX) throw new Error(`the ${example.name} example does not start: ${output}`);
  }
}

/** Starts a prepared example. @returns `running` as null when the process ended, and what it had written by then */
export async function startOnce(
  example: Example,
  folder: string,
  env: Record<string, string>,
): Promise<{ running: RunningExample | null; output: string }> {
  const port = await closedPort();
  const [command, ...args] = example.command(folder, port);
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, RESEND_AFTER_SECONDS: '0', ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (bytes: Buffer): void => void (output += bytes.toString());
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const url = `http://127.0.0.1:${port}`;
  const stop = (): void => void child.kill('SIGKILL');
  try {
    const state = await until(`the ${example.name} example`, async () => {
      if (child.exitCode !== null || child.signalCode !== null) return 'ended';
      // Its own line says that it listens there, and not another program.
      return output.includes(url) && (await answers(url)) ? 'runs' : undefined;
    });
    return { running: state === 'runs' ? { url, output: () => output, stop } : null, output };
  } catch (error) {
    // Otherwise it would outlive the tests, which would wait for it.
    stop();
    throw new Error(`the ${example.name} example does not answer: ${output}`, { cause: error });
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );
