import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { basename, join, resolve } from 'node:path';
import { until } from '@onecode/testing';

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
];

/** Whether the program answers on this machine. */
export const isInstalled = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/** Copies an example into a folder of its own and builds it there. @returns the folder */
export function prepareExample({ name, build }: Example): string {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, `.cache/example-${name}-`));
  cpSync(join(ROOT, 'examples', name), folder, {
    recursive: true,
    // What somebody installed and built there may be of other versions, and hundreds of megabytes.
    filter: (path) => !['node_modules', 'dist', '.next'].includes(basename(path)),
  });
  build?.(folder);
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
  run(folder, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts');
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

/** Starts a prepared example against a service. */
export async function startExample(
  example: Example,
  folder: string,
  env: Record<string, string>,
): Promise<RunningExample> {
  const port = await freePort();
  const [command, ...args] = example.command(folder, port);
  const child: ChildProcess = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, RESEND_AFTER_SECONDS: '0', ...env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await until(`the ${example.name} example`, () =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return { url, stop: () => void child.kill('SIGKILL') };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
