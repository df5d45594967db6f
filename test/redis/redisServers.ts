import { randomBytes } from 'node:crypto';
import { until } from '@onecode/testing';
import { Redis } from 'ioredis';
import { Processes } from '../../scripts/processes/processes.mjs';
import { freePort } from '../../scripts/services/ports.mjs';
import { startRedisServer } from '../../scripts/services/redis.mjs';
import { makeCertificates, type Certificates } from './certificates.js';

export const HOST = '127.0.0.1';
/** How long a master is silent before sentinels, or the other nodes of a cluster, replace it. */
const DOWN_AFTER_MS = 1_000;
const START_MS_MAX = 30_000;
const ASK_MS_MAX = 2_000;
const FAIL_OVER_MS_MAX = 60_000;
const SLOTS = 16_384;
/** Replicas take over at once, and no clock of theirs is waited for. */
const COMMON = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0', 'repl-ping-replica-period 1'];

/** A Redis server of a test. */
export interface RedisServer {
  readonly port: number;
  /** Kills it, as when its machine fails. */
  kill(): Promise<void>;
  /** Stops its clock, as when its machine hangs: connections stay open, and nothing is answered. */
  freeze(): void;
  resume(): void;
  /** Starts it again after a kill. */
  restart(): Promise<void>;
  /** Runs a command as the default user. */
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
}

/** Servers of one test file, which end together. */
export class RedisServers {
  readonly #processes = Processes.throwaway();
  readonly password = randomBytes(16).toString('hex');
  #certificates: Certificates | undefined;

  /** The file of the authority that signed the servers' certificates. */
  get caFile(): string {
    return this.#tls.caFile;
  }

  get #tls(): Certificates {
    return (this.#certificates ??= makeCertificates(this.#processes.folder));
  }

  /** Starts a server with these further lines of configuration. */
  async start(
    name: string,
    settings: readonly string[] = [],
    { isTls = false, isSentinel = false, password = this.password } = {},
  ): Promise<RedisServer> {
    const port = await freePort();
    const { certificate, key, caFile } = isTls ? this.#tls : { certificate: '', key: '', caFile: '' };
    const lines = [
      ...(isTls
        ? ['port 0', `tls-port ${port}`, 'tls-auth-clients no', 'tls-replication yes']
        : [`port ${port}`]),
      ...(isTls ? [`tls-cert-file ${certificate}`, `tls-key-file ${key}`, `tls-ca-cert-file ${caFile}`] : []),
      `bind ${HOST}`,
      ...(isSentinel ? [] : COMMON),
      ...(password === '' ? [] : [`requirepass ${password}`]),
      ...(password === '' || isSentinel ? [] : [`masterauth ${password}`]),
      ...settings,
    ];
    const start = () =>
      startRedisServer({ processes: this.#processes, name, settings: lines, isSentinel, log: () => {} });
    let started = await start();
    const open = (): Redis =>
      new Redis({
        host: HOST,
        port,
        lazyConnect: true,
        connectTimeout: ASK_MS_MAX,
        commandTimeout: ASK_MS_MAX,
        retryStrategy: () => null,
        ...(password !== '' && { password }),
        ...(isTls && { tls: { ca: this.#tls.ca } }),
      });
    const call = (command: string, ...args: (string | number)[]) => ask(open(), command, ...args);
    await until(`${name} at port ${port}`, () => isAnswering(call), START_MS_MAX);
    return {
      port,
      async kill() {
        process.kill(started.pid, 'SIGKILL');
        await started.exited;
      },
      freeze: () => void process.kill(started.pid, 'SIGSTOP'),
      resume: () => void process.kill(started.pid, 'SIGCONT'),
      async restart() {
        started = await start();
        await until(`${name} at port ${port}`, () => isAnswering(call), START_MS_MAX);
      },
      call,
    };
  }

  async close(): Promise<void> {
    await this.#processes.stop();
  }
}

const isAnswering = (call: RedisServer['call']): Promise<boolean> =>
  call('ping').then(
    (answer) => answer === 'PONG',
    () => false,
  );

/** Runs one command on a connection of its own. */
async function ask(redis: Redis, command: string, ...args: (string | number)[]): Promise<unknown> {
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

/** Servers that one address names, and that replace a master which is gone. */
export interface Topology {
  url: string;
  /** Those that hold data. */
  servers: readonly RedisServer[];
  /** The server that has the queues' keys. */
  master(): Promise<RedisServer>;
  /** Waits until another server than this one is the master. */
  untilReplaced(master: RedisServer): Promise<RedisServer>;
  /** Waits until every server is part of it again. */
  untilComplete(): Promise<void>;
}

const MASTER_NAME = 'onecode-main';

/** A master with a replica, watched by three sentinels. */
export async function startSentinels(
  servers: RedisServers,
  { isTls = false, sentinelPassword = '' } = {},
): Promise<Topology & { sentinels: RedisServer[] }> {
  const first = await servers.start('master', [], { isTls });
  const second = await servers.start('replica', [`replicaof ${HOST} ${first.port}`], { isTls });
  const watch = [
    `sentinel monitor ${MASTER_NAME} ${HOST} ${first.port} 2`,
    `sentinel auth-pass ${MASTER_NAME} ${servers.password}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
  ];
  const sentinels: RedisServer[] = [];
  for (const n of [1, 2, 3])
    sentinels.push(
      await servers.start(`sentinel-${n}`, watch, { isTls, isSentinel: true, password: sentinelPassword }),
    );
  const all = [first, second];
  const master = async (): Promise<RedisServer> => {
    const [, port] = (await sentinels[0]!.call(
      'sentinel',
      'get-master-addr-by-name',
      MASTER_NAME,
    )) as string[];
    return all.find((one) => one.port === Number(port))!;
  };
  const untilComplete = async (): Promise<void> => {
    for (const sentinel of sentinels)
      await until(
        'a sentinel that knows all others and the replica',
        async () => {
          const answer = (await sentinel.call('sentinel', 'master', MASTER_NAME)) as string[];
          const field = (name: string): string | undefined => answer[answer.indexOf(name) + 1];
          const isKnown = field('num-other-sentinels') === '2' && Number(field('num-slaves')) >= 1;
          return isKnown && field('flags') === 'master';
        },
        FAIL_OVER_MS_MAX,
      );
    const current = await master();
    await untilFollowing(all.filter((one) => one !== current));
  };
  await untilComplete();
  const hosts = sentinels.map(({ port }) => `${HOST}:${port}`).join(',');
  return {
    url: `redis+sentinel${isTls ? '+tls' : ''}://:${servers.password}@${hosts}/${MASTER_NAME}`,
    servers: all,
    sentinels,
    master,
    async untilReplaced(old) {
      return until(
        'another master',
        async () => {
          const current = await master();
          if (current.port === old.port) return null;
          return (await roleOf(current)) === 'master' ? current : null;
        },
        FAIL_OVER_MS_MAX,
      );
    },
    untilComplete,
  };
}

/** Three masters, each with a replica. */
export async function startCluster(
  servers: RedisServers,
  keyOfQueues: string,
  { isTls = false } = {},
): Promise<Topology> {
  const nodes: RedisServer[] = [];
  const buses: number[] = [];
  for (let n = 1; n <= 6; n++) {
    const bus = await freePort();
    buses.push(bus);
    nodes.push(
      await servers.start(
        `node-${n}`,
        [
          'cluster-enabled yes',
          `cluster-port ${bus}`,
          `cluster-node-timeout ${DOWN_AFTER_MS}`,
          'cluster-replica-validity-factor 0',
          ...(isTls ? ['tls-cluster yes'] : []),
        ],
        { isTls },
      ),
    );
  }
  const [asker, ...others] = nodes as [RedisServer, ...RedisServer[]];
  for (const [n, node] of others.entries())
    await asker.call('cluster', 'meet', HOST, node.port, buses[n + 1]!);
  const ids = await Promise.all(nodes.map(async (node) => String(await node.call('cluster', 'myid'))));
  for (const [n, node] of nodes.slice(0, 3).entries())
    await node.call(
      'cluster',
      'addslotsrange',
      Math.ceil((SLOTS * n) / 3),
      Math.ceil((SLOTS * (n + 1)) / 3) - 1,
    );
  for (const [n, node] of nodes.slice(3).entries())
    await until('a replica in the cluster', () =>
      node.call('cluster', 'replicate', ids[n]!).then(
        () => true,
        () => false,
      ),
    );
  const slot = Number(await asker.call('cluster', 'keyslot', keyOfQueues));
  const masterAt = async (node: RedisServer): Promise<number | undefined> => {
    const ranges = (await node.call('cluster', 'slots')) as [number, number, [string, number]][];
    return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
  };
  /** The master that every running node names. */
  const master = async (): Promise<RedisServer> => {
    const found = await until(
      'one master in the eyes of all nodes',
      async () => {
        const known = await Promise.all(nodes.map((node) => masterAt(node).catch(() => null)));
        const ports = new Set(known.filter((port) => port !== null));
        return ports.size === 1 ? nodes.find(({ port }) => ports.has(port)) : null;
      },
      FAIL_OVER_MS_MAX,
    );
    return found;
  };
  const untilComplete = async (): Promise<void> => {
    for (const node of nodes)
      await until(
        'a node that sees the whole cluster',
        async () => {
          const info = String(await node.call('cluster', 'info').catch(() => ''));
          const known = String(await node.call('cluster', 'nodes').catch(() => 'fail'));
          return (
            info.includes('cluster_state:ok') &&
            !/fail|handshake/.test(known) &&
            known.trim().split('\n').length === 6
          );
        },
        FAIL_OVER_MS_MAX,
      );
    const roles = await Promise.all(nodes.map(roleOf));
    await untilFollowing(nodes.filter((_, n) => roles[n] === 'slave'));
  };
  await untilComplete();
  const hosts = nodes
    .slice(0, 3)
    .map(({ port }) => `${HOST}:${port}`)
    .join(',');
  return {
    url: `redis+cluster${isTls ? '+tls' : ''}://:${servers.password}@${hosts}`,
    servers: nodes,
    master,
    async untilReplaced(old) {
      return until(
        'another master',
        async () => {
          const current = await master();
          return current.port === old.port ? null : current;
        },
        FAIL_OVER_MS_MAX,
      );
    },
    untilComplete,
  };
}

async function roleOf(server: RedisServer): Promise<string> {
  const [role] = (await server.call('role')) as [string];
  return role;
}

/** Waits until these replicas have their masters' data. */
async function untilFollowing(replicas: readonly RedisServer[]): Promise<void> {
  for (const replica of replicas)
    await until(
      'a replica that follows',
      async () =>
        String(await replica.call('info', 'replication').catch(() => '')).includes('master_link_status:up'),
      FAIL_OVER_MS_MAX,
    );
}
