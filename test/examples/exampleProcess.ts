import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { closedPort, until } from '@onecode/testing';

const ROOT = resolve(import.meta.dirname, '../..');

/** How an example is built and started; `needs` is the program that must be on the machine. */
export interface Example {
  name: string;
  needs: string;
  /** Prepares its copy, for a folder of the packed SDK where it needs that. */
  build?: (folder: string) => void;
  command: (folder: string, port: number) => [string, ...string[]];
}

export const EXAMPLES: readonly Example[] = [
  { name: 'express', needs: 'node', build: installPackages, command: () => ['node', 'server.js'] },
  { name: 'fastify', needs: 'node', build: installPackages, command: () => ['node', 'server.js'] },
  { name: 'nestjs', needs: 'node', build: installAndBuild, command: () => ['node', 'dist/main.js'] },
  {
    name: 'nextjs',
    needs: 'node',
    build: installAndBuild,
    // Not through npm, which would leave the server behind when it is ended.
    command: () => ['node', 'node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
  },
  { name: 'python', needs: 'python3', command: () => ['python3', 'server.py'] },
  { name: 'php', needs: 'php', command: (_, port) => ['php', '-S', `127.0.0.1:${port}`, 'server.php'] },
  { name: 'go', needs: 'go', build: compileGo, command: () => ['./sign-in'] },
  { name: 'java', needs: 'javac', build: compileJava, command: () => ['java', '-cp', 'classes', 'Server'] },
];

/** Whether the program answers on this machine. */
export const isInstalled = (program: string): boolean =>
  spawnSync(program, [program === 'go' ? 'version' : '--version'], { stdio: 'ignore' }).status === 0;

/** The time for `prepareExample` and the start: packages are installed, programs compiled. */
export const PREPARE_MS_MAX = 300_000;

/** Copies an example into a folder of its own and builds it there. @returns the folder @throws an error that names the example */
export function prepareExample({ name, build }: Example): string {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, `.cache/example-${name}-`));
  cpSync(join(ROOT, 'examples', name), folder, {
    recursive: true,
    // What somebody installed and built there may be of other versions, and hundreds of megabytes.
    filter: (path) => !['node_modules', 'dist', '.next'].includes(basename(path)),
  });
  try {
    build?.(folder);
  } catch (error) {
    removeExample(folder);
    throw new Error(`the ${name} example could not be built: ${(error as Error).message}`, { cause: error });
  }
  return folder;
}

export const removeExample = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Installs an example's packages, with the SDK as it is packed here. */
function installPackages(folder: string): void {
  run(
    join(ROOT, 'packages/client'),
    'npm',
    'pack',
    '--silent',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  );
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  manifest.dependencies['@onecode/client'] = `file:${packed}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  try {
    run(folder, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts');
  } catch (error) {
    const why = (error as Error).message;
    throw new Error(`its packages cannot be installed. Can npm reach its registry? ${why}`, { cause: error });
  }
}

/** Without a network, another toolchain or the state of the repository around the copy. */
function compileGo(folder: string): void {
  run(
    folder,
    'env',
    'GOPROXY=off',
    'GOTOOLCHAIN=local',
    'go',
    'build',
    '-buildvcs=false',
    '-o',
    'sign-in',
    '.',
  );
}

function compileJava(folder: string): void {
  const sources = readdirSync(folder).filter((file) => file.endsWith('.java'));
  run(folder, 'javac', '-Xlint:all', '-Werror', '-d', 'classes', ...sources);
}

/** Installs an example's packages and compiles it, which checks its types. */
function installAndBuild(folder: string): void {
  installPackages(folder);
  run(folder, 'npm', 'run', '--silent', 'build');
}

function run(cwd: string, command: string, ...args: string[]): void {
  execFileSync(command, args, { cwd, stdio: 'pipe' });
}

export interface RunningExample {
  url: string;
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
    const { running, output } = await tryStart(example, folder, env);
    if (running !== null) return running;
    // Somebody else may have taken the port since it was found free.
    if (starts === STARTS_MAX) throw new Error(`the ${example.name} example does not start: ${output}`);
  }
}

/** @returns `running` as null when the process ended */
async function tryStart(
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
    return { running: state === 'runs' ? { url, stop } : null, output };
  } catch (error) {
    // Otherwise it would outlive the tests, which would wait for it.
    stop();
    throw new Error(`the ${example.name} example does not answer: ${output}`, { cause: error });
  }
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
