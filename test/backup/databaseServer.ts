import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/services/ports.mjs';
import { blocksOf } from '../documentedCommands.js';

const BINDIR = (spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' }).stdout ?? '').trim();
const PROGRAMS = ['initdb', 'pg_ctl', 'pg_basebackup', 'pg_receivewal', 'pg_dump', 'psql'];
const isRoot = process.getuid?.() === 0;
const PASSWORD = 'password';
const page = blocksOf('backup');

/** Whether this machine has all programs of a PostgreSQL server, and an account that may run it. */
export const hasPostgres =
  PROGRAMS.every((program) => spawnSync(join(BINDIR, program), ['--version']).status === 0) &&
  (!isRoot || spawnSync('id', ['postgres']).status === 0);

/** Commands that run in the background. */
export interface Begun {
  /** The exit code. */
  exited: Promise<number | null>;
  output(): string;
  stop(): Promise<void>;
}

/** The PostgreSQL servers of a test, one after the other at one address, and a shell for the commands of docs/backup.md. */
export class DatabaseServers {
  readonly folder = mkdtempSync(join(tmpdir(), 'backup-'));
  readonly #dataFolders: string[] = [];
  readonly #begun = new Set<Begun['stop']>();
  #port = 0;

  constructor() {
    chmodSync(this.folder, 0o755);
    for (const name of ['secrets', 'servers']) mkdirSync(join(this.folder, name));
    if (isRoot) {
      const { stdout } = spawnSync('id', ['-u', 'postgres'], { encoding: 'utf8' });
      chownSync(join(this.folder, 'servers'), Number(stdout), lstatSync(this.folder).gid);
    }
  }

  url(role: string): string {
    return `postgresql://${role}:${PASSWORD}@127.0.0.1:${this.#port}/onecode`;
  }

  /** Makes an empty server, with the database and the roles of docs/deploy.md. */
  async start(name: string): Promise<void> {
    this.#port ||= await freePort();
    const settings = [
      `port = ${this.#port}`,
      "unix_socket_directories = ''",
      'max_connections = 200',
      "log_min_messages = 'warning'",
    ].join('\n');
    await this.run(
      `initdb --pgdata ${this.dataFolder(name)} --username postgres --auth scram-sha-256 --pwfile <(echo ${PASSWORD}) > /dev/null
       echo "${settings}" >> ${this.dataFolder(name)}/postgresql.conf
       pg_ctl start --pgdata ${this.dataFolder(name)} --log ${this.dataFolder(name)}/log`,
    );
    await this.run(
      `psql --set ON_ERROR_STOP=1 --quiet --file "${process.cwd()}/deploy/postgresql/database.sql"`,
      false,
    );
    writeFileSync(join(this.folder, 'secrets', 'MIGRATE_DATABASE_URL'), this.url('onecode_owner'));
  }

  /** Returns the data folder of a server, which is stopped at the end of the test. */
  dataFolder(name: string): string {
    const folder = join(this.folder, 'servers', name);
    if (!this.#dataFolders.includes(folder)) this.#dataFolders.push(folder);
    return folder;
  }

  /** Kills a server, as in a crash. */
  async crash(name: string): Promise<void> {
    await this.run(`pg_ctl stop --mode immediate --pgdata ${this.dataFolder(name)}`);
  }

  /** The commands below a heading of docs/backup.md, with the names of this machine, and other values where these are given. */
  documented(heading: string, values: Record<string, string> = {}): string[] {
    const own = page.filter((block) => block.heading === heading);
    if (own.length === 0) throw new Error(`docs/backup.md has no commands below ${heading}`);
    const names = {
      'PGHOST=db.example.com': 'PGHOST=127.0.0.1',
      '/var/backups/onecode': join(this.folder, 'servers', 'backups'),
      '/etc/onecode/secrets': join(this.folder, 'secrets'),
      ...values,
    };
    return own.map(({ text }) =>
      Object.entries(names).reduce((commands, [name, value]) => commands.replaceAll(name, value), text),
    );
  }

  /** Runs commands, by default as PostgreSQL's system user. @returns their output @throws when one of them fails */
  async run(commands: string, asPostgres = true): Promise<string> {
    const started = this.begin(commands, asPostgres);
    const code = await started.exited;
    if (code !== 0) throw new Error(`${commands}\nended with ${code}:\n${started.output()}`);
    return started.output();
  }

  /** Returns the single value of a statement, which a superuser runs. */
  async ask(statement: string): Promise<string> {
    return (await this.run(`psql --no-align --tuples-only --command "${statement}"`)).trim();
  }

  /** Starts commands in the background. */
  begin(commands: string, asPostgres = true): Begun {
    const bash = ['bash', '-euo', 'pipefail', '-c', commands];
    const [command, ...args] = asPostgres && isRoot ? ['runuser', '-u', 'postgres', '--', ...bash] : bash;
    const child = spawn(command!, args, {
      cwd: asPostgres ? join(this.folder, 'servers') : this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${BINDIR}:${process.env['PATH']}`,
        PGHOST: '127.0.0.1',
        PGPORT: String(this.#port),
        PGUSER: 'postgres',
        PGPASSWORD: PASSWORD,
        OWNER_PASSWORD: PASSWORD,
        SERVICE_PASSWORD: PASSWORD,
      },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
    const stop = async (): Promise<void> => {
      if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM');
      await exited;
    };
    this.#begun.add(stop);
    void exited.then(() => this.#begun.delete(stop));
    return { exited, output: () => output, stop };
  }

  /** Stops the running server and removes the folder. */
  async stop(): Promise<void> {
    for (const stop of this.#begun) await stop();
    for (const folder of this.#dataFolders)
      await this.run(`pg_ctl stop --mode immediate --pgdata ${folder} || true`);
    rmSync(this.folder, { recursive: true });
  }
}
