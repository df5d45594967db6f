import { execFileSync, spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { closedPort, until } from '@onecode/testing';

const ROOT = resolve(import.meta.dirname, '../..');
const SDK = join(ROOT, 'packages/client');
/** Files installed or built in an example's folder are not copied: they may be of other versions and hundreds of megabytes. */
const NOT_COPIED = new Set(['node_modules', '.next']);

/** The time in which an example is prepared and started: packages are installed, Next.js builds. */
export const PREPARE_MS_MAX = 300_000;

/** Copies an example into an empty folder, installs its packages with the SDK as it is packed here, and builds it. */
export function prepareExample(name: string, folder: string): void {
  cpSync(join(ROOT, 'examples', name), folder, {
    recursive: true,
    filter: (path) => !NOT_COPIED.has(basename(path)),
  });
  run(SDK, 'pack', '--silent', '--ignore-scripts', '--pack-destination', folder);
  const packed = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  manifest.dependencies['@onecode/client'] = `file:${packed}`;
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  run(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts');
  run(folder, 'run', '--silent', '--if-present', 'build');
}

/** Runs npm. @throws with its output */
function run(cwd: string, ...args: string[]): void {
  execFileSync('npm', args, { cwd, stdio: 'pipe' });
}

/** The programs that serve the prepared examples. npm is not used, because it would not stop them. */
const COMMANDS: Record<string, readonly string[]> = {
  express: ['server.js'],
  nextjs: ['node_modules/next/dist/bin/next', 'start', '-H', '127.0.0.1'],
};
export const EXAMPLES = Object.keys(COMMANDS);

/** An example that was started. */
export interface RunningExample {
  url: string;
  /** False if it ended before it served its page. */
  isServing: boolean;
  /** What it has written. */
  output(): string;
  stop(): void;
}

/** Starts a prepared example. Returns when it serves its page or has ended. */
export async function startExample(
  name: string,
  folder: string,
  env: Record<string, string>,
): Promise<RunningExample> {
  const port = String(await closedPort());
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, COMMANDS[name]!, {
    cwd: folder,
    env: { ...process.env, RESEND_AFTER_SECONDS: '0', ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => void (output += bytes.toString()));
  const running = { url, isServing: true, output: () => output, stop: () => void child.kill('SIGKILL') };
  try {
    const state = await until(`the ${name} example`, async () => {
      if (child.exitCode !== null || child.signalCode !== null) return 'ended';
      // Its output proves that it listens there, and not another program.
      const isThere = output.includes(url) && (await fetch(url).then(...YES_OR_NO));
      return isThere ? 'serves' : undefined;
    });
    return { ...running, isServing: state === 'serves' };
  } catch (error) {
    // Otherwise it would outlive the tests, which would wait for it.
    running.stop();
    throw new Error(`the ${name} example does not answer: ${output}`, { cause: error });
  }
}

const YES_OR_NO = [() => true, () => false] as const;
