import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
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
  /** Null where this machine can have none. */
  findProgram(): string | null;
  /** @param caFile an authority's certificate that the driver is to trust @returns the command that runs it */
  build(program: string, folder: string, caFile: string): string[];
  /** It sends further requests on the connection of an earlier one. */
  keepsConnections?: true;
}

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    findProgram: () => onPath('python3', '--version'),
    build(program, _folder, caFile) {
      const client = join(CLIENTS, 'python/onecode.py');
      run(
        program,
        '-c',
        `import ast; ast.parse(open(${JSON.stringify(client)}).read(), feature_version=(3, 9))`,
      );
      return [
        'env',
        `SSL_CERT_FILE=${caFile}`,
        `PYTHONPATH=${join(CLIENTS, 'python')}`,
        program,
        '-B',
        join(DRIVERS, 'driver.py'),
      ];
    },
  },
  {
    name: 'PHP',
    findProgram: () => onPath('php', '--version') ?? fetched('php-cli', 'usr/bin/php8.2'),
    build(program, _folder, caFile) {
      const libraries = program.startsWith(ROOT) ? librariesIn(join(ROOT, '.cache/php-cli')) : [];
      const php = ['env', `SSL_CERT_FILE=${caFile}`, `LD_LIBRARY_PATH=${libraries.join(':')}`, program, '-n'];
      return [...php, join(DRIVERS, 'driver.php'), join(CLIENTS, 'php/Onecode.php')];
    },
  },
  {
    name: 'Go',
    findProgram: () => onPath('go', 'version') ?? fetched('golang-go', 'usr/lib/go-1.19/bin/go'),
    build(program, folder, caFile) {
      mkdirSync(join(folder, 'onecode'));
      cpSync(join(CLIENTS, 'go/onecode.go'), join(folder, 'onecode/onecode.go'));
      cpSync(join(DRIVERS, 'driver.go'), join(folder, 'main.go'));
      writeFileSync(join(folder, 'go.mod'), 'module driver\n\ngo 1.19\n');
      const go = ['env', '-C', folder, 'CGO_ENABLED=0', 'GOPROXY=off', 'GOTOOLCHAIN=local', program];
      run(...go, 'vet', './...');
      run(...go, 'build', '-buildvcs=false', '-o', 'driver', '.');
      return ['env', `SSL_CERT_FILE=${caFile}`, join(folder, 'driver')];
    },
  },
  {
    name: 'Java',
    findProgram: () => onPath('javac', '-version'),
    keepsConnections: true,
    build(program, folder, caFile) {
      const sources = [join(CLIENTS, 'java/Onecode.java'), join(DRIVERS, 'Driver.java')];
      run(program, '--release', '17', '-Xlint:all', '-Werror', '-d', folder, ...sources);
      const store = join(folder, 'ca.p12');
      run(
        'keytool',
        '-importcert',
        '-noprompt',
        '-file',
        caFile,
        '-keystore',
        store,
        '-storepass',
        'changeit',
      );
      const trust = [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=changeit'];
      return ['java', ...trust, '-cp', folder, 'Driver'];
    },
  },
];

const onPath = (program: string, version: string): string | null =>
  spawnSync(program, [version]).status === 0 ? program : null;

/** A program of a package of this system, unpacked into .cache. */
function fetched(name: string, path: string): string | null {
  const folder = join(ROOT, '.cache', name);
  return existsSync(folder) || fetchPackages(folder, name) ? join(folder, path) : null;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** What a driver answers: `outcome` is `made`, `send`, `judgement`, `problem`, `connection`, `indeterminate`, `mistake` or `bug`. */
export type Outcome = { outcome: string } & Record<string, string>;

/** A program in a client's language, which makes the calls that it is asked for. */
export class Driver {
  readonly #folder = mkdtempSync(join(tmpdir(), 'onecode-client-'));
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor({ build }: Language, program: string, caFile: string) {
    const [command, ...args] = build(program, this.#folder, caFile);
    this.#child = spawn(command!, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  /** Makes the client anew. */
  make(options: {
    baseUrl: string;
    apiKey: string;
    timeoutMs?: number;
    maxRetries?: number;
  }): Promise<Outcome> {
    return this.ask('new', { timeoutMs: 5000, maxRetries: 3, ...options });
  }

  async ask(call: string, given: Record<string, string | number>): Promise<Outcome> {
    const fields = Object.entries({ call, ...given }).map(([name, value]) => [name, String(value)]);
    this.#child.stdin!.write(`${new URLSearchParams(fields).toString()}\n`);
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the driver ended');
    return Object.fromEntries(new URLSearchParams(value)) as Outcome;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }
}
