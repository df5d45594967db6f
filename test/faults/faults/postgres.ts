import { until } from '@onecode/testing';
import pg from 'pg';
import type { FaultCluster } from '../cluster/faultCluster.js';
import { PGBOUNCER } from '../cluster/services.js';
import type { Fault } from './fault.js';

const DOWN = { apis: false, workers: false };
const FROZEN_MS = 4_000;

const postgresFault = (name: string, fault: Omit<Fault, 'name' | 'family' | 'answers'>): Fault => ({
  name: `PostgreSQL ${name}`,
  family: 'postgres',
  answers: 'always',
  ...fault,
});

const proxiesOf = ({ proxies: { apiPostgres, workerPostgres } }: FaultCluster) => [
  ...apiPostgres,
  ...workerPostgres,
];

/** Cuts the connections of the processes and takes every connection that the server allows, so that they get none. */
async function takeAllConnections(cluster: FaultCluster): Promise<pg.Client[]> {
  const held: pg.Client[] = [];
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: cluster.services.postgresUrl });
    client.on('error', () => {});
    try {
      await client.connect();
    } catch {
      return false;
    }
    held.push(client);
    return true;
  };
  await until('the last connection', async () => {
    for (const proxy of proxiesOf(cluster)) proxy.cut();
    const taken = await Promise.all(Array.from({ length: 20 }, take));
    // The server frees cut connections a little later.
    return taken.every((one) => !one);
  });
  return held;
}

/** Moves the processes that know one address to a server at this port, as a load balancer or a changed name does. */
function leadTo(cluster: FaultCluster, port: number): void {
  const { apiPostgres, workerPostgres } = cluster.proxies;
  for (const proxy of [apiPostgres[0], workerPostgres[0]]) proxy?.retarget(port);
}

/** Replaces one process after another, as a deploy does. */
async function replaceProcesses(cluster: FaultCluster): Promise<void> {
  for (const process of cluster.processes) {
    await process.terminate();
    await process.untilReady();
  }
}

const POOLER_FAULT: Fault = {
  name: 'PostgreSQL behind PgBouncer in transaction mode, which is killed',
  family: 'postgres',
  holdMs: 10_000,
  async inject(cluster) {
    const { services, db } = cluster;
    const poolerUrl = await services.startPgBouncer(db.url);
    cluster.faultSettings = () => ({ poolerUrl });
    await replaceProcesses(cluster);
    await services.killPgBouncer();
    await services.startPgBouncer(db.url);
    return async () => {
      cluster.faultSettings = () => ({});
      await replaceProcesses(cluster);
      await services.killPgBouncer();
    };
  },
};

export const POSTGRES_FAULTS: readonly Fault[] = [
  ...(PGBOUNCER === null ? [] : [POOLER_FAULT]),
  postgresFault('restarted', {
    holdMs: 0,
    async inject({ services }) {
      await services.stopPostgres();
      return () => services.startPostgres();
    },
  }),
  postgresFault('stopped', {
    holdMs: 3_000,
    ready: DOWN,
    async inject({ services }) {
      await services.stopPostgres();
      return () => services.startPostgres();
    },
  }),
  postgresFault('killed, recovers from its log', {
    holdMs: 500,
    async inject({ services }) {
      await services.killPostgres();
      return () => services.startPostgres();
    },
  }),
  postgresFault('fails over to its streaming replica, and back', {
    holdMs: 15_000,
    async inject(cluster) {
      const { services, db } = cluster;
      await services.startReplica();
      await services.failOver();
      const promotedAt = new Date();
      leadTo(cluster, services.replicaPort);
      return async () => {
        const promoted = new pg.Client({
          connectionString: `${new URL(services.replicaUrl).href.replace(/\/[^/]*$/, '')}${new URL(db.url).pathname}`,
        });
        promoted.on('error', () => {});
        await promoted.connect();
        const { rowCount } = await promoted.query('select from sends where created_at > $1 limit 1', [
          promotedAt,
        ]);
        await promoted.end();
        await services.failBack();
        leadTo(cluster, Number(new URL(services.postgresUrl).port));
        return rowCount === 0 ? ['no send was created at the promoted replica'] : [];
      };
    },
  }),
  postgresFault('cuts its connections', {
    holdMs: 2_000,
    async inject({ db }, random) {
      for (let n = random.between(2, 5); n > 0; n--)
        await db.sql(
          'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
        );
      return async () => {};
    },
  }),
  postgresFault('frozen', {
    holdMs: FROZEN_MS - 500,
    ready: DOWN,
    async inject({ services }) {
      const awake = services.freezePostgres(FROZEN_MS);
      return () => awake;
    },
  }),
  {
    name: 'PostgreSQL silent on the latest connection of each process',
    family: 'postgres',
    holdMs: 2_500,
    ready: { apis: true },
    async inject(cluster) {
      for (const proxy of proxiesOf(cluster)) proxy.abandon('latest');
      // These connections stay silent until a process closes its own.
      return async () => {};
    },
  },
  postgresFault('locks the rows of some accounts for another client', {
    holdMs: 2_000,
    ready: { apis: true, workers: true },
    async inject({ db }, random) {
      const accounts = await db.sql<{ id: string }>('select id from accounts order by id');
      const locked = Array.from({ length: 8 }, () => random.of(accounts).id);
      const client = new pg.Client({ connectionString: db.url });
      client.on('error', () => {});
      await client.connect();
      await client.query('begin');
      await client.query('select from accounts where id = any($1) order by id for update', [locked]);
      return async () => {
        await client.query('rollback');
        await client.end();
      };
    },
  }),
  postgresFault('out of connections', {
    holdMs: 3_000,
    ready: DOWN,
    async inject(cluster) {
      const held = await takeAllConnections(cluster);
      for (const proxy of proxiesOf(cluster)) await proxy.open();
      return async () => {
        await Promise.all(held.map((client) => client.end().catch(() => {})));
      };
    },
  }),
];
