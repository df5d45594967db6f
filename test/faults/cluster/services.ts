import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Processes } from '../../../scripts/processes/processes.mjs';
import { startPostgres } from '../../../scripts/services/postgres.mjs';
import { startRedis } from '../../../scripts/services/redis.mjs';

/** The cluster's own PostgreSQL and Redis, which can be stopped, killed and frozen without losing their data. */
export class Services {
  readonly #processes = Processes.throwaway();
  #postgres!: Awaited<ReturnType<typeof startPostgres>>;
  #redis!: Awaited<ReturnType<typeof startRedis>>;

  static async start(): Promise<Services> {
    const services = new Services();
    await services.startPostgres();
    await services.startRedis();
    return services;
  }

  get postgresUrl(): string {
    return this.#postgres.url;
  }

  get redisUrl(): string {
    return this.#redis.url;
  }

  /** Starts PostgreSQL, also after a stop, and waits until it answers. */
  async startPostgres(): Promise<void> {
    this.#postgres = await startPostgres({ ...this.#options(), port: this.#postgres?.port });
  }

  /** A fast shutdown, which closes connections. */
  async stopPostgres(): Promise<void> {
    process.kill(this.#postgres.pid, 'SIGINT');
    await this.#postgres.exited;
  }

  /** Kills every process of PostgreSQL at once, as when the machine fails: the next start recovers from the write-ahead log. */
  async killPostgres(): Promise<void> {
    const { pid, exited } = this.#postgres;
    const others = await this.#serverProcesses();
    for (const each of [pid, ...others]) killIfRunning(each);
    await exited;
  }

  /** Freezes every process of PostgreSQL. @returns when they run again */
  async freezePostgres(ms: number): Promise<void> {
    const { pid } = this.#postgres;
    // First the parent, so that it starts no new process.
    process.kill(pid, 'SIGSTOP');
    await freezeFor([pid, ...childrenOf(pid)], ms);
  }

  /** Starts Redis, also after a stop, with its data unless it is to be empty. */
  async startRedis({ empty = false } = {}): Promise<void> {
    if (empty) rmSync(join(this.#processes.folder, 'redis'), { recursive: true, force: true });
    const password = this.#redis === undefined ? undefined : new URL(this.#redis.url).password;
    this.#redis = await startRedis({
      ...this.#options(),
      port: this.#redis?.port,
      ...(password === undefined ? {} : { password }),
    });
  }

  async stopRedis(): Promise<void> {
    process.kill(this.#redis.pid, 'SIGTERM');
    await this.#redis.exited;
  }

  /** @returns when it runs again */
  freezeRedis(ms: number): Promise<void> {
    return freezeFor([this.#redis.pid], ms);
  }

  async close(): Promise<void> {
    await this.#processes.stop();
  }

  #options() {
    return { processes: this.#processes, throwaway: false, log: () => {} };
  }

  async #serverProcesses(): Promise<number[]> {
    const client = new pg.Client({ connectionString: this.#postgres.url });
    client.on('error', () => {});
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity');
    void client.end().catch(() => {});
    return rows.map(({ pid }) => pid);
  }
}

/**
 * Freezes processes for a time. A separate process does it, so that they run again even if this one is killed meanwhile.
 */
async function freezeFor(pids: readonly number[], ms: number): Promise<void> {
  const script = 'time=$1; shift; kill -STOP "$@"; sleep "$time"; kill -CONT "$@"';
  const shell = spawn('sh', ['-c', script, 'sh', String(ms / 1000), ...pids.map(String)], {
    detached: true,
    stdio: 'ignore',
  });
  await once(shell, 'exit');
}

function childrenOf(parent: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return rows
    .map((row) => row.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
