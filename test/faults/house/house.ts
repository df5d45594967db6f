import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Keyring } from '@onecode/domain';
import { resumeSender } from '@onecode/store';
import {
  buildCaller,
  buildSender,
  createTestDatabase,
  TEST_ACTOR,
  TEST_PEPPER,
  TEST_SECRET_KEY,
  type TestCaller,
  type TestDatabase,
} from '@onecode/store/testing';
import { SimulatorControl } from '../../harness/simulatorControl.js';
import { startProcess, type StartedProcess } from '../../harness/startedProcess.js';
import { startTcpProxy, type TcpProxy } from '../../harness/tcpProxy.js';
import { until } from '../../harness/until.js';
import { Services } from './services.js';
import { Supervised, type End } from './supervised.js';

const APIS = 2;
const WORKERS = 2;
const SENDERS = 4;
/** Short enough for a run of minutes: a lease lasts this and five seconds. */
const PROVIDER_TIMEOUT_MS = 1_500;
const DELIVERY_BACKOFF_MS = 200;
export const DELIVERY_ATTEMPTS = 5;

const PRELOADS = ['crashPoints.mjs', 'clockOffset.mjs'].map((file) =>
  fileURLToPath(new URL(file, import.meta.url)),
);

/** What a process is started with besides its configuration. */
export interface Handicap {
  crashPoints?: string;
  clockOffsetMs?: number;
}

/** The proxies, one between each pair; a list has one for each process. */
export interface Links {
  clients: TcpProxy[];
  apiPostgres: TcpProxy[];
  apiRedis: TcpProxy[];
  workerPostgres: TcpProxy[];
  workerRedis: TcpProxy[];
  workerProvider: TcpProxy[];
  webhooks: TcpProxy;
}

/**
 * All processes as they run in earnest: two APIs and two workers under supervision, the simulator, a PostgreSQL and a Redis of
 * their own, and a TCP proxy between each pair.
 */
export class House {
  readonly ends: End[] = [];
  readonly apis: Supervised[] = [];
  readonly workers: Supervised[] = [];
  readonly senders: { id: string; phoneNumberId: string }[] = [];
  db!: TestDatabase;
  simulator!: SimulatorControl;
  links!: Links;
  /** A caller of its own for questions about recovery. */
  prober!: TestCaller;
  #simulatorProcess!: StartedProcess;
  readonly #apiPorts = Array.from({ length: APIS }, () => 0);
  /** What the next start of a process gets, by its name. Returns the handicap of that one life. */
  handicap: (name: string) => Handicap = () => ({});

  private constructor(readonly services: Services) {}

  static async start(): Promise<House> {
    const house = new House(await Services.start());
    try {
      await house.#start();
    } catch (error) {
      await house.close().catch(() => {});
      throw error;
    }
    return house;
  }

  async #start(): Promise<void> {
    const { services } = this;
    process.env['TEST_DATABASE_URL'] = services.postgresUrl;
    this.db = await createTestDatabase();
    for (let n = 0; n < SENDERS; n++) this.senders.push(await buildSender(this.db.database));
    this.prober = await buildCaller(this.db.database, 'live', { credits: 1_000_000, ratePerMinute: 100_000 });

    const appSecret = randomBytes(16).toString('hex');
    const verifyToken = randomBytes(16).toString('hex');
    const nowhere = 'http://127.0.0.1:1';
    const several = (count: number, url: string): Promise<TcpProxy[]> =>
      Promise.all(Array.from({ length: count }, () => startTcpProxy(url)));
    const webhooks = await startTcpProxy(nowhere);
    this.#simulatorProcess = startProcess('packages/simulator/dist/main.js', {
      WHATSAPP_APP_SECRET: appSecret,
      PORT: '0',
      HOST: '127.0.0.1',
      WEBHOOK_URL: `${plain(webhooks)}/webhooks/whatsapp`,
      SENT_DELAY_MS: '50',
      DELIVERED_DELAY_MS: '200',
      KEEP_MESSAGES: '1000000',
    });
    const simulatorUrl = await until(
      'the simulator',
      () => /simulator ready: (http:\/\/[\d.]+:\d+)/.exec(this.#simulatorProcess.output())?.[1],
    );
    this.simulator = new SimulatorControl(simulatorUrl);
    this.links = {
      clients: await several(APIS, nowhere),
      apiPostgres: await several(APIS, this.db.url),
      apiRedis: await several(APIS, services.redisUrl),
      workerPostgres: await several(WORKERS, this.db.url),
      workerRedis: await several(WORKERS, services.redisUrl),
      workerProvider: await several(WORKERS, simulatorUrl),
      webhooks,
    };
    this.#startApps({ appSecret, verifyToken });
    await this.untilUp();
  }

  #startApps({ appSecret, verifyToken }: { appSecret: string; verifyToken: string }): void {
    const common = {
      SECRET_KEY: variableOf(TEST_SECRET_KEY),
      METRICS_PORT: '0',
      DELIVERY_ATTEMPTS: String(DELIVERY_ATTEMPTS),
    };
    const { links } = this;
    for (let n = 0; n < APIS; n++)
      this.apis.push(
        this.#supervise(`api ${n}`, 'apps/api/dist/main.js', n, {
          ...common,
          DATABASE_URL: links.apiPostgres[n]!.url,
          REDIS_URL: links.apiRedis[n]!.url,
          PORT: '0',
          BASE_URL: 'http://127.0.0.1:3000',
          CODE_PEPPER: variableOf(TEST_PEPPER),
          WHATSAPP_APP_SECRET: appSecret,
          WHATSAPP_VERIFY_TOKEN: verifyToken,
        }),
      );
    for (let n = 0; n < WORKERS; n++)
      this.workers.push(
        this.#supervise(`worker ${n}`, 'apps/worker/dist/main.js', null, {
          ...common,
          DATABASE_URL: links.workerPostgres[n]!.url,
          REDIS_URL: links.workerRedis[n]!.url,
          WHATSAPP_API_URL: `${plain(links.workerProvider[n]!)}/v25.0`,
          DELIVERY_BACKOFF_MS: String(DELIVERY_BACKOFF_MS),
          PROVIDER_TIMEOUT_MS: String(PROVIDER_TIMEOUT_MS),
        }),
      );
  }

  #supervise(name: string, path: string, api: number | null, env: Record<string, string>): Supervised {
    const moved = (port: number): void => {
      if (api === null) return;
      this.#apiPorts[api] = port;
      this.links.clients[api]!.retarget(port);
      // As by a load balancer: webhooks go to the API that came up last.
      this.links.webhooks.retarget(port === 0 ? (this.#apiPorts.find((one) => one !== 0) ?? 0) : port);
      this.links.webhooks.hangUp();
    };
    return new Supervised({
      name,
      path,
      env: () => ({ ...env, ...variablesOf(this.handicap(name)) }),
      onUp: ({ port }) => moved(port),
      onEnd: (end) => {
        this.ends.push(end);
        moved(0);
      },
    });
  }

  /** The addresses that clients use. */
  get apiUrls(): string[] {
    return this.links.clients.map(plain);
  }

  get processes(): Supervised[] {
    return [...this.apis, ...this.workers];
  }

  async untilUp(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.untilUp()));
  }

  /** Ends the pauses of all senders, as an operator does once a fault of theirs is mended. */
  async resumeSenders(): Promise<void> {
    for (const { id } of this.senders) await resumeSender(this.db.database, TEST_ACTOR, id);
  }

  /** Takes every proxy back to passing everything on. */
  async openLinks(): Promise<void> {
    const { webhooks, ...lists } = this.links;
    await Promise.all([webhooks, ...Object.values(lists).flat()].map((proxy) => proxy.open()));
  }

  /** Stops the APIs and workers for good. */
  async stopProcesses(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.close()));
  }

  /** What the processes did that no fault explains: ends that nobody wanted, and errors that no outage makes. */
  faults(): string[] {
    return [
      ...this.ends.flatMap(({ fault }) => fault ?? []),
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
    if (this.links === undefined) return;
    const { webhooks, ...lists } = this.links;
    await Promise.all([webhooks, ...Object.values(lists).flat()].map((proxy) => proxy.close()));
  }
}

/** What drivers and the log say when a service is away, refuses, is slow or hangs up; and what a rule of the provider's makes. */
const OUTAGES = [
  /Connection terminated|Server has closed the connection/i,
  /connection timeout|read timeout|statement timeout|timed out|timeout exceeded when trying to connect/i,
  /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/,
  /ConnectionClosed|DatabaseNotReachable|SocketTimeout|TooManyConnections/,
  /the database system is|terminating connection|too many clients|remaining connection slots/i,
  /an operator has to act/,
];

const isOutage = (kind: string): boolean => OUTAGES.some((pattern) => pattern.test(kind));

const plain = ({ url }: TcpProxy): string => url.replace(/\/$/, '');

const variableOf = (keyring: Keyring): string =>
  (keyring.keys.get(keyring.current) as Buffer).toString('base64');

/** Nothing of the suite is loaded into a process that runs without a handicap. */
function variablesOf({ crashPoints, clockOffsetMs }: Handicap): Record<string, string> {
  if (crashPoints === undefined && clockOffsetMs === undefined) return {};
  return {
    NODE_OPTIONS: PRELOADS.map((path) => `--import ${path}`).join(' '),
    ...(crashPoints === undefined ? {} : { CRASH_POINTS: crashPoints }),
    ...(clockOffsetMs === undefined ? {} : { CLOCK_OFFSET_MS: String(clockOffsetMs) }),
  };
}
