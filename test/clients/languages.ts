import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fetchPackages, librariesIn } from '../../scripts/services/packages.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENTS = join(ROOT, 'clients');
const DRIVERS = join(import.meta.dirname, 'drivers');

/** The time in which toolchains are fetched and drivers compiled. */
export const PREPARE_MS_MAX = 300_000;

/** A client's language: its compiler or interpreter, and how the driver is built in an empty folder and run. */
interface Language {
  name: string;
  /** Returns null if this machine has no such program. */
  findProgram: () => string | null;
  /** @param caFile an authority that the driver trusts in addition to `SSL_CERT_FILE` @returns the command that runs it */
  build: (program: string, folder: string, caFile: string) => string[];
  /** Whether it sends further requests on the connection of an earlier one. */
  keepsConnections?: true;
  /** Whether the message of a problem contains its detail. */
  showsDetail?: true;
}

const PHP_FOLDER = join(ROOT, '.cache/php-cli');
const GO_FOLDER = join(ROOT, '.cache/golang-go');

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    showsDetail: true,
    findProgram: () => onPath('python3', '--version'),
    build: (program) => {
      const client = join(CLIENTS, 'python/onecode.py');
      const check = 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))';
      run(program, '-c', check, client);
      return [program, '-B', join(DRIVERS, 'driver.py'), dirname(client)];
    },
  },
  {
    name: 'PHP',
    findProgram: () => onPath('php', '--version') ?? unpacked(PHP_FOLDER, 'usr/bin/php.default'),
    build: (program) => {
      const libraries = existsSync(PHP_FOLDER) ? librariesIn(PHP_FOLDER) : [];
      const php = ['env', `LD_LIBRARY_PATH=${libraries.join(':')}`, program, '-n'];
      return [...php, join(DRIVERS, 'driver.php'), join(CLIENTS, 'php/Onecode.php')];
    },
  },
  {
    name: 'Go',
    findProgram: () => onPath('go', 'version') ?? unpacked(GO_FOLDER, 'usr/bin/go'),
    build: (program, folder) => {
      mkdirSync(join(folder, 'onecode'));
      cpSync(join(CLIENTS, 'go/onecode.go'), join(folder, 'onecode/onecode.go'));
      cpSync(join(DRIVERS, 'driver.go'), join(folder, 'main.go'));
      writeFileSync(join(folder, 'go.mod'), 'module driver\n\ngo 1.19\n');
      const go = ['-C', folder, 'CGO_ENABLED=0', 'GOPROXY=off', 'GOTOOLCHAIN=local', program];
      run('env', ...go, 'vet', './...');
      run('env', ...go, 'build', '-buildvcs=false', '-o', 'driver', '.');
      return [join(folder, 'driver')];
    },
  },
  {
    name: 'Java',
    findProgram: () => onPath('javac', '-version'),
    keepsConnections: true,
    build: (program, folder, caFile) => {
      const sources = [join(CLIENTS, 'java/Onecode.java'), join(DRIVERS, 'Driver.java')];
      run(program, '--release', '17', '-Xlint:all', '-Werror', '-d', folder, ...sources);
      const store = ['-keystore', join(folder, 'trusted'), '-storepass', 'changeit'];
      run('keytool', '-importcert', '-noprompt', '-file', caFile, ...store);
      const trust = [
        `-Djavax.net.ssl.trustStore=${store[1]}`,
        `-Djavax.net.ssl.trustStorePassword=${store[3]}`,
      ];
      return ['java', ...trust, '-cp', folder, 'Driver'];
    },
  },
];

const onPath = (program: string, version: string): string | null =>
  spawnSync(program, [version]).status === 0 ? program : null;

/** Returns a program from a package of this system. The package is unpacked into a folder with its name. */
function unpacked(folder: string, path: string): string | null {
  if (!existsSync(folder)) fetchPackages(folder, basename(folder));
  return existsSync(join(folder, path)) ? join(folder, path) : null;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The value or error of a client, with the names of the npm client. Times are in milliseconds; a value of null is absent. */
export type Outcome = Record<string, unknown> & {
  outcome: 'made' | 'send' | 'judgement' | 'problem' | 'connection' | 'indeterminate' | 'mistake';
  id?: string;
  idempotencyKey?: string;
  /** All text that an error can show. */
  shown?: string;
};

const OUTCOMES: [type: RegExp, outcome: Outcome['outcome']][] = [
  [/^made$/, 'made'],
  [/Send$/, 'send'],
  [/VerifyResult$/, 'judgement'],
  [/ProblemE/, 'problem'],
  [/ConnectionE/, 'connection'],
  [/IndeterminateVerificationE/, 'indeterminate'],
  // The languages' own errors for wrong arguments.
  [/^(?:ValueError|InvalidArgumentException|IllegalArgumentException|\*errors\.errorString)$/, 'mistake'],
];

function readOutcome(line: string): Outcome {
  const { type, value, shown } = JSON.parse(line) as { type: string; value?: object; shown?: string };
  const [, outcome] = OUTCOMES.find(([pattern]) => pattern.test(type)) ?? [];
  if (outcome === undefined) throw new Error(`a driver answered with ${type}: ${shown}`);
  const read: Outcome = { outcome, ...(shown && { shown }) };
  const { facts = {}, ...own } = { ...value } as { facts?: object };
  for (const [key, part] of Object.entries({ ...own, ...facts })) {
    const name = key
      .replace(/^[A-Z]/, (letter) => letter.toLowerCase())
      .replace('ID', 'Id')
      .replace('problemCode', 'code')
      .replaceAll(/_(\w?)/g, (_, letter: string) => letter.toUpperCase());
    if (part === null || part === '' || name === 'cause' || (name === 'status' && part === 0)) continue;
    if (name === 'retryAfter') read['retryAfterSeconds'] = Number(part) / 1e9;
    else read[name] = name.endsWith('At') ? Date.parse(part as string) : part;
  }
  return read;
}

interface ClientOptions {
  baseUrl: string;
  apiKey: string;
  timeoutMs?: number;
  maxRetries?: number;
  deadlineMs?: number;
  /** Separated by spaces. */
  testHosts?: string;
}

/** A program in a client's language, which makes the calls that the test requests. */
export class Driver {
  readonly #folder = mkdtempSync(join(tmpdir(), 'onecode-client-'));
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor({ build }: Language, program: string, caFile: string) {
    const [command, ...args] = build(program, this.#folder, caFile);
    const env = { ...process.env, SSL_CERT_FILE: caFile };
    this.#child = spawn(command!, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** Creates a new client. */
  make({
    timeoutMs = 5000,
    maxRetries = 3,
    deadlineMs = 15_000,
    ...options
  }: ClientOptions): Promise<Outcome> {
    const numbers = { timeoutMs: `${timeoutMs}`, maxRetries: `${maxRetries}`, deadlineMs: `${deadlineMs}` };
    return this.ask('new', { ...options, ...numbers });
  }

  async ask(call: string, given: Record<string, string>): Promise<Outcome> {
    this.#child.stdin!.write(`${new URLSearchParams({ call, ...given }).toString()}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the driver ended');
    return readOutcome(value);
  }

  /** Suspends or continues the program. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name);
  }

  stop(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }
}
