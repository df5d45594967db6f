import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Keyring } from '@onecode/domain';
import { resumeSender } from '@onecode/store/senders';
import {
  buildCaller,
  buildSender,
  createTestDatabase,
  SimulatorControl,
  startProcess,
  startTcpProxy,
  TEST_ACTOR,
  TEST_PEPPER,
  TEST_SECRET_KEY,
  until,
  type StartedProcess,
  type TcpProxy,
  type TestCaller,
  type TestDatabase,
} from '@onecode/testing';
import { Services } from './services.js';
import { SupervisedProcess, type ProcessExit } from './supervisedProcess.js';

const APIS = 2;
const WORKERS = 2;
const SENDERS = 4;
/** The provider's business accounts, between which the senders are divided. */
export const BUSINESS_ACCOUNTS = ['102290129340398', '102290129340399'] as const;
/** A lease lasts five seconds longer than this: short enough for a run of minutes. */
const PROVIDER_TIMEOUT_MS = 1_500;
const DELIVERY_BACKOFF_MS = 200;
export const DELIVERY_ATTEMPTS = 5;

const PRELOADS = ['crashPoints.mjs', 'clockOffset.mjs'].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
);

/** The faults with which a process starts, in addition to its configuration. */
export interface FaultSettings {
  /** The value of CRASH_POINTS. */
  crashPoints?: string;
  clockOffsetMs?: number;
  /** The address of a pooler in transaction mode, by which it reaches PostgreSQL. */
  poolerUrl?: string;
}

/** The proxies between each pair of participants; a list has one for each process. */
export interface Proxies {
  clients: TcpProxy[];
  apiPostgres: TcpProxy[];
  apiRedis: TcpProxy[];
  workerPostgres: TcpProxy[];
  workerRedis: TcpProxy[];
  workerProvider: TcpProxy[];
  webhooks: TcpProxy;
}

/**
 * The processes as in production: two APIs and two workers under supervision, the simulator, their own PostgreSQL and Redis, and a TCP
 * proxy between each pair.
 */
export class FaultCluster {
  readonly exits: ProcessExit[] = [];
  readonly apis: SupervisedProcess[] = [];
  readonly workers: SupervisedProcess[] = [];
  readonly senders: { id: string; phoneNumberId: string; number: string; wabaId: string }[] = [];
  db!: TestDatabase;
  simulator!: SimulatorControl;
  proxies!: Proxies;
  /** Creates the sends that measure recovery. */
  probeCaller!: TestCaller;
  #simulatorProcess!: StartedProcess;
  readonly #apiPorts = Array.from({ length: APIS }, () => 0);
  /** The address of Redis for the next start of the processes; null: the proxies in front of the only Redis. */
  redisUrl: string | null = null;
  /** The settings for the next start of the process of this name. */
  faultSettings: (name: string) => FaultSettings = () => ({});

  private constructor(readonly services: Services) {}

  static async start(): Promise<FaultCluster> {
    const cluster = new FaultCluster(await Services.start());
    try {
      await cluster.#start();
    } catch (error) {
      await cluster.close().catch(() => {});
      throw error;
    }
    return cluster;
  }

  async #start(): Promise<void> {
    const { services } = this;
    process.env['TEST_DATABASE_URL'] = services.postgresUrl;
    this.db = await createTestDatabase();
    for (let n = 0; n < SENDERS; n++)
      this.senders.push({
        ...(await buildSender(this.db.database)),
        wabaId: BUSINESS_ACCOUNTS[n % BUSINESS_ACCOUNTS.length]!,
      });
    this.probeCaller = await buildCaller(this.db.database, 'live', {
      credits: 1_000_000,
      ratePerMinute: 100_000,
    });

    const appSecret = randomBytes(16).toString('hex');
    const verifyToken = randomBytes(16).toString('hex');
    const unreachable = 'http://127.0.0.1:1';
    const startProxies = (count: number, url: string): Promise<TcpProxy[]> =>
      Promise.all(Array.from({ length: count }, () => startTcpProxy(url)));
    const webhooks = await startTcpProxy(unreachable);
    this.#simulatorProcess = startProcess('packages/simulator/dist/main.js', {
      WHATSAPP_APP_SECRET: appSecret,
      PORT: '0',
      HOST: '127.0.0.1',
      WEBHOOK_URL: `${urlOf(webhooks)}/webhooks/whatsapp`,
      SENT_DELAY_MS: '50',
      DELIVERED_DELAY_MS: '200',
      KEEP_MESSAGES: '1000000',
    });
    const simulatorUrl = await until(
      'the simulator',
      () => /simulator ready: (http:\/\/[\d.]+:\d+)/.exec(this.#simulatorProcess.output())?.[1],
    );
    this.simulator = new SimulatorControl(simulatorUrl);
    for (const { phoneNumberId, number, wabaId } of this.senders)
      await this.simulator.changeSender(phoneNumberId, {
        wabaId,
        displayPhoneNumber: number.replace('+', ''),
      });
    this.proxies = {
      clients: await startProxies(APIS, unreachable),
      apiPostgres: await startProxies(APIS, this.db.url),
      apiRedis: await startProxies(APIS, services.redisUrl),
      workerPostgres: await startProxies(WORKERS, this.db.url),
      workerRedis: await startProxies(WORKERS, services.redisUrl),
      workerProvider: await startProxies(WORKERS, simulatorUrl),
      webhooks,
    };
    this.#startApps({ appSecret, verifyToken });
    await this.untilReady();
  }

  #startApps({ appSecret, verifyToken }: { appSecret: string; verifyToken: string }): void {
    const common = {
      SECRET_KEY: encodeCurrentKey(TEST_SECRET_KEY),
      METRICS_PORT: '0',
      DELIVERY_ATTEMPTS: String(DELIVERY_ATTEMPTS),
    };
    const { proxies } = this;
    for (let n = 0; n < APIS; n++)
      this.apis.push(
        this.#supervise(`api ${n}`, 'apps/api/dist/main.js', n, {
          ...common,
          DATABASE_URL: this.#databaseUrl(proxies.apiPostgres, n),
          REDIS_URL: proxies.apiRedis[n]!.url,
          PORT: '0',
          BASE_URL: 'http://127.0.0.1:3000',
          CODE_PEPPER: encodeCurrentKey(TEST_PEPPER),
          WHATSAPP_APP_SECRET: appSecret,
          WHATSAPP_VERIFY_TOKEN: verifyToken,
        }),
      );
    for (let n = 0; n < WORKERS; n++)
      this.workers.push(
        this.#supervise(`worker ${n}`, 'apps/worker/dist/main.js', null, {
          ...common,
          DATABASE_URL: this.#databaseUrl(proxies.workerPostgres, n),
          REDIS_URL: proxies.workerRedis[n]!.url,
          WHATSAPP_API_URL: `${urlOf(proxies.workerProvider[n]!)}/v25.0`,
          DELIVERY_BACKOFF_MS: String(DELIVERY_BACKOFF_MS),
          PROVIDER_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS),
        }),
      );
  }

  /** The first process of each kind has one address, the others also have the replica's. */
  #databaseUrl(proxies: readonly TcpProxy[], n: number): string {
    const { url } = proxies[n]!;
    return n === 0
      ? url
      : url.replace(/:\d+\//, (port) => `${port.slice(0, -1)},127.0.0.1:${this.services.replicaPort}/`);
  }

  #supervise(
    name: string,
    path: string,
    apiIndex: number | null,
    env: Record<string, string>,
  ): SupervisedProcess {
    const setPort = (port: number): void => {
      if (apiIndex === null) return;
      this.#apiPorts[apiIndex] = port;
      this.proxies.clients[apiIndex]!.retarget(port);
      // Like a load balancer: webhooks go to the API that became ready last.
      this.proxies.webhooks.retarget(port === 0 ? (this.#apiPorts.find((one) => one !== 0) ?? 0) : port);
      this.proxies.webhooks.hangUp();
    };
    return new SupervisedProcess({
      name,
      path,
      env: () => ({
        ...env,
        ...(this.redisUrl !== null && { REDIS_URL: this.redisUrl }),
        ...environmentOf(this.faultSettings(name)),
      }),
      onReady: ({ port }) => setPort(port),
      onExit: (exit) => {
        this.exits.push(exit);
        setPort(0);
      },
    });
  }

  /** The URLs that clients use. */
  get apiUrls(): string[] {
    return this.proxies.clients.map(urlOf);
  }

  get processes(): SupervisedProcess[] {
    return [...this.apis, ...this.workers];
  }

  async untilReady(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.untilReady()));
  }

  /** Restarts the processes one after another with another Redis, as a deployment does. */
  async moveToRedis(url: string | null): Promise<void> {
    this.redisUrl = url;
    for (const process of this.processes) {
      await process.terminate();
      await process.untilReady();
    }
  }

  /** Resumes all senders, as an operator does after fixing their fault. */
  async resumeSenders(): Promise<void> {
    for (const { id } of this.senders) await resumeSender(this.db.database, TEST_ACTOR, id);
  }

  /** Stops the APIs and workers for good. */
  async stopProcesses(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.close()));
  }

  /** Returns the problems that no injected fault explains: unexpected exits, and errors that no outage causes. */
  problems(): string[] {
    return [
      ...this.exits.flatMap(({ problem }) => problem ?? []),
      ...this.processes.flatMap(({ name, errors }) =>
        [...errors]
          .filter(([kind]) => !isOutage(kind))
          .map(([kind, count]) => `${name} logged ${count} times: ${kind}`),
      ),
    ];
  }

  async close(): Promise<void> {
    await Promise.all([this.stopProcesses(), this.#simulatorProcess?.stop()]);
    await this.db?.drop().catch(() => {});
    await this.services.close();
    if (this.proxies === undefined) return;
    const { webhooks, ...lists } = this.proxies;
    await Promise.all([webhooks, ...Object.values(lists).flat()].map((proxy) => proxy.close()));
  }
}

/** Errors of an unavailable or slow service, and errors caused by a rule of the simulator. */
const OUTAGES = [
  /Connection terminated|Client has encountered a connection error|Server has closed the connection/i,
  /connection timeout|read timeout|statement timeout|timed out|timeout exceeded when trying to connect/i,
  /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/,
  /ConnectionClosed|DatabaseNotReachable|SocketTimeout|TooManyConnections/,
  /the database does not respond/,
  /the database system is|terminating connection|too many clients|remaining connection slots/i,
  /expired transaction|unable to start a transaction|the database answers too late/i,
  /timeout expired|takes (?:no )?writes/,
  /sender blocked/,
];

const isOutage = (kind: string): boolean => OUTAGES.some((pattern) => pattern.test(kind));

const urlOf = ({ url }: TcpProxy): string => url.replace(/\/$/, '');

const encodeCurrentKey = (keyring: Keyring): string =>
  (keyring.keys.get(keyring.current) as Buffer).toString('base64');

/** A process without fault settings loads nothing of the suite. */
function environmentOf({ crashPoints, clockOffsetMs, poolerUrl }: FaultSettings): Record<string, string> {
  if (poolerUrl !== undefined) return { DATABASE_URL: poolerUrl, DATABASE_POOLER: 'transaction' };
  if (crashPoints === undefined && clockOffsetMs === undefined) return {};
  return {
    NODE_OPTIONS: PRELOADS.map((path) => `--import ${path}`).join(' '),
    ...(crashPoints === undefined ? {} : { CRASH_POINTS: crashPoints }),
    ...(clockOffsetMs === undefined ? {} : { CLOCK_OFFSET_MS: String(clockOffsetMs) }),
  };
}
