import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { Processes } from '../../../scripts/processes/processes.mjs';
import { until } from '@onecode/testing';
import { freePort } from '../../../scripts/services/ports.mjs';
import { findPgBouncer, startPgBouncer } from '../../../scripts/services/pgbouncer.mjs';
import { startPostgres, startReplica } from '../../../scripts/services/postgres.mjs';
import { startRedis } from '../../../scripts/services/redis.mjs';

/** This machine's PgBouncer with support for prepared statements, or null. */
export const PGBOUNCER = findPgBouncer();

/** The cluster's own PostgreSQL and Redis, which can be stopped, killed and frozen without losing their data. */
export class Services {
  readonly #processes = Processes.throwaway();
  #postgres!: Awaited<ReturnType<typeof startPostgres>>;
  #redis!: Awaited<ReturnType<typeof startRedis>>;
  #pgBouncer: Awaited<ReturnType<typeof startPgBouncer>> | undefined;
  #replica: Awaited<ReturnType<typeof startReplica>> | undefined;
  /** Where a replica of PostgreSQL listens, when there is one. */
  replicaPort = 0;

  static async start(): Promise<Services> {
    const services = new Services();
    services.replicaPort = await freePort();
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

  /** Kills every process of PostgreSQL at once, as in a machine failure; the next start recovers from the write-ahead log. */
  async killPostgres(): Promise<void> {
    const { pid, exited } = this.#postgres;
    const others = await this.#serverProcesses();
    for (const each of [pid, ...others]) killIfRunning(each);
    await exited;
  }

  /** Starts a streaming replica that every later commit waits for. */
  async startReplica(): Promise<void> {
    this.#replica = await startReplica({
      ...this.#options(),
      primaryUrl: this.#postgres.url,
      port: this.replicaPort,
    });
    // After the start, because a promoted replica must not wait for another replica.
    await query(this.#postgres.url, `alter system set synchronous_standby_names = '*'`);
    await query(this.#postgres.url, 'select pg_reload_conf()');
    await until('a replica that commits wait for', async () => {
      const rows = await query(
        this.#postgres.url,
        `select from pg_stat_replication where sync_state = 'sync'`,
      );
      return rows.length === 1;
    });
  }

  /** Kills PostgreSQL, and makes its replica the primary. */
  async failOver(): Promise<void> {
    await this.killPostgres();
    await query(this.replicaUrl, 'select pg_promote()');
  }

  /** Stops the promoted replica, and starts PostgreSQL with its data. */
  async failBack(): Promise<void> {
    const replica = this.#replica!;
    process.kill(replica.pid, 'SIGINT');
    await replica.exited;
    replica.takePlace();
    await this.startPostgres();
  }

  /** Starts a PgBouncer in transaction mode, also after it was killed. @returns a database's address through it */
  async startPgBouncer(url: string): Promise<string> {
    this.#pgBouncer = await startPgBouncer(PGBOUNCER!, {
      processes: this.#processes,
      url,
      settings: { pool_mode: 'transaction', default_pool_size: 20, max_prepared_statements: 200 },
      ...(this.#pgBouncer && { port: this.#pgBouncer.port }),
    });
    return this.#pgBouncer.url;
  }

  async killPgBouncer(): Promise<void> {
    const { pid, exited } = this.#pgBouncer!;
    process.kill(pid, 'SIGKILL');
    await exited;
  }

  get replicaUrl(): string {
    const url = new URL(this.postgresUrl);
    url.port = String(this.replicaPort);
    return url.href;
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
    const rows = await query<{ pid: number }>(this.#postgres.url, 'select pid from pg_stat_activity');
    return rows.map(({ pid }) => pid);
  }
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query<Row>(text);
  void client.end().catch(() => {});
  return rows;
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
