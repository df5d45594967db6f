import { randomBytes } from 'node:crypto';
import { makeCertificates, until, type Certificates } from '@onecode/testing';
import { Redis } from 'ioredis';
import { Processes } from '../../scripts/processes/processes.mjs';
import { freePort } from '../../scripts/services/ports.mjs';
import { startRedisServer } from '../../scripts/services/redis.mjs';

export const HOST = '127.0.0.1';
/** How long a master is silent before sentinels, or the other nodes of a cluster, replace it. */
const DOWN_AFTER_MS = 1_000;
const START_MS_MAX = 30_000;
const ASK_MS_MAX = 2_000;
const FAIL_OVER_MS_MAX = 60_000;
const SLOTS = 16_384;
/** Replicas take over immediately, without their usual waits. */
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
  #started = 0;

  /** The authority that signed the servers' certificates, in PEM. */
  get ca(): string {
    return this.#tls.ca;
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
    const folder = `${name}-${(this.#started += 1)}`;
    const lines = [
      ...(isTls ? this.#tlsSettings(port) : [`port ${port}`]),
      `bind ${HOST}`,
      ...(isSentinel ? [] : COMMON),
      ...(password === '' ? [] : [`requirepass ${password}`]),
      ...(password === '' || isSentinel ? [] : [`masterauth ${password}`]),
      ...settings,
    ];
    const start = () =>
      startRedisServer({
        processes: this.#processes,
        name: folder,
        settings: lines,
        isSentinel,
        log: () => {},
      });
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

  #tlsSettings(port: number): string[] {
    const { certificate, key, caFile } = this.#tls;
    return [
      'port 0',
      `tls-port ${port}`,
      'tls-auth-clients no',
      'tls-replication yes',
      'tls-cluster yes',
      `tls-cert-file ${certificate}`,
      `tls-key-file ${key}`,
      `tls-ca-cert-file ${caFile}`,
    ];
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

/** Runs one command on a separate connection. */
async function ask(redis: Redis, command: string, ...args: (string | number)[]): Promise<unknown> {
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}

/** Servers behind one address, which replace a failed master. */
export interface Topology {
  url: string;
  /** The servers that hold data. */
  servers: readonly RedisServer[];
  /** The server that has the queues' keys. */
  master(): Promise<RedisServer>;
  /** Makes the master a replica, which keeps running. */
  failOver(): Promise<unknown>;
  /** Waits until another server than this one is the master. */
  untilReplaced(master: RedisServer): Promise<RedisServer>;
  /** Waits until every server is part of it again. */
  untilComplete(): Promise<void>;
}

const MASTER_NAME = 'onecode-main';

/** A master with a replica, watched by a sentinel. */
export async function startSentinel(
  servers: RedisServers,
  { isTls = false, sentinelPassword = '' } = {},
): Promise<Topology> {
  const first = await servers.start('master', [], { isTls });
  const second = await servers.start('replica', [`replicaof ${HOST} ${first.port}`], { isTls });
  const watch = [
    `sentinel monitor ${MASTER_NAME} ${HOST} ${first.port} 1`,
    `sentinel auth-pass ${MASTER_NAME} ${servers.password}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
  ];
  const sentinel = await servers.start('sentinel', watch, {
    isTls,
    isSentinel: true,
    password: sentinelPassword,
  });
  const both = [first, second];
  const master = async (): Promise<RedisServer> => {
    const [, port] = (await sentinel.call('sentinel', 'get-master-addr-by-name', MASTER_NAME)) as string[];
    return both.find((one) => one.port === Number(port))!;
  };
  const untilComplete = async (): Promise<void> => {
    await untilTrue('a sentinel that knows both', async () => {
      const answer = (await sentinel.call('sentinel', 'master', MASTER_NAME)) as string[];
      const field = (name: string): string | undefined => answer[answer.indexOf(name) + 1];
      return field('flags') === 'master' && field('num-slaves') === '1';
    });
    const current = await master();
    await untilFollowing(both.filter((one) => one !== current));
  };
  await untilComplete();
  return {
    url: `redis+sentinel${isTls ? '+tls' : ''}://:${servers.password}@${HOST}:${sentinel.port}/${MASTER_NAME}`,
    servers: both,
    master,
    failOver: () =>
      untilTrue('a fail-over that the sentinel agrees to', () =>
        sentinel.call('sentinel', 'failover', MASTER_NAME),
      ),
    untilReplaced: (old) => untilReplaced(old, master),
    untilComplete,
  };
}

/** Three masters; the one with the queues' keys has a replica. */
export async function startCluster(
  servers: RedisServers,
  keyOfQueues: string,
  { isTls = false } = {},
): Promise<Topology> {
  const nodes: RedisServer[] = [];
  for (let n = 0; n < 4; n++) {
    const bus = await freePort();
    const settings = [
      'cluster-enabled yes',
      `cluster-port ${bus}`,
      `cluster-node-timeout ${DOWN_AFTER_MS}`,
      'cluster-replica-validity-factor 0',
    ];
    nodes.push(await servers.start(`node-${n}`, settings, { isTls }));
    await nodes[0]!.call('cluster', 'meet', HOST, nodes[n]!.port, bus);
  }
  const [asker, , , replica] = nodes as [RedisServer, RedisServer, RedisServer, RedisServer];
  const slot = Number(await asker.call('cluster', 'keyslot', keyOfQueues));
  const slotFrom = (n: number): number => Math.ceil((SLOTS * n) / 3);
  for (const [n, node] of nodes.slice(0, 3).entries()) {
    await node.call('cluster', 'addslotsrange', slotFrom(n), slotFrom(n + 1) - 1);
    if (slot < slotFrom(n) || slot >= slotFrom(n + 1)) continue;
    const id = String(await node.call('cluster', 'myid'));
    await untilTrue('a replica in the cluster', () => replica.call('cluster', 'replicate', id));
  }
  const masterAt = async (node: RedisServer): Promise<number | undefined> => {
    const ranges = (await node.call('cluster', 'slots')) as [number, number, [string, number]][];
    return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
  };
  /** The master that every running node names. */
  const master = (): Promise<RedisServer> =>
    until(
      'one master in the eyes of all nodes',
      async () => {
        const known = await Promise.all(nodes.map((node) => masterAt(node).catch(() => null)));
        const ports = new Set(known.filter((port) => port !== null));
        return ports.size === 1 ? nodes.find(({ port }) => ports.has(port)) : null;
      },
      FAIL_OVER_MS_MAX,
    );
  const follower = async (): Promise<RedisServer | undefined> => {
    const roles = await Promise.all(nodes.map(roleOf));
    return nodes[roles.indexOf('slave')];
  };
  const untilComplete = async (): Promise<void> => {
    for (const node of nodes)
      await untilTrue('a node that sees the whole cluster', async () => {
        const info = String(await node.call('cluster', 'info'));
        const known = String(await node.call('cluster', 'nodes'));
        const isWhole = !/fail|handshake/.test(known) && known.trim().split('\n').length === nodes.length;
        return info.includes('cluster_state:ok') && isWhole && (await follower()) !== undefined;
      });
    await untilFollowing([(await follower())!]);
  };
  await untilComplete();
  const hosts = nodes.map(({ port }) => `${HOST}:${port}`).join(',');
  return {
    url: `redis+cluster${isTls ? '+tls' : ''}://:${servers.password}@${hosts}`,
    servers: nodes,
    master,
    failOver: async () => (await follower())!.call('cluster', 'failover'),
    untilReplaced: (old) => untilReplaced(old, master),
    untilComplete,
  };
}

async function roleOf(server: RedisServer): Promise<string> {
  const [role] = (await server.call('role')) as [string];
  return role;
}

/** Waits until a command succeeds with a result other than false. */
function untilTrue(what: string, ask: () => Promise<unknown>): Promise<true> {
  const isTrue = (): Promise<boolean> =>
    ask().then(
      (answer) => answer !== false,
      () => false,
    );
  return until(what, async () => (await isTrue()) && (true as const), FAIL_OVER_MS_MAX);
}

function untilReplaced(old: RedisServer, master: () => Promise<RedisServer>): Promise<RedisServer> {
  return until(
    'another master',
    async () => {
      const current = await master();
      return current.port !== old.port && (await roleOf(current)) === 'master' ? current : null;
    },
    FAIL_OVER_MS_MAX,
  );
}

/** Waits until these replicas have their masters' data. */
async function untilFollowing(replicas: readonly RedisServer[]): Promise<void> {
  for (const replica of replicas)
    await untilTrue('a replica that follows', async () =>
      String(await replica.call('info', 'replication')).includes('master_link_status:up'),
    );
}
