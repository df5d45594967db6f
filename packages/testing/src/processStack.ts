import { randomBytes } from 'node:crypto';
import { parseKeyring, type Mode } from '@onecode/domain';
import type { Redis } from 'ioredis';
import { bodyOf, request, type Answer, type RequestParts, type SendView } from './apiRequest.js';
import { buildCaller, buildSender } from './builders.js';
import { SimulatorControl } from './simulatorControl.js';
import { startProcess, untilReady, type StartedProcess } from './startedProcess.js';
import { createTestDatabase, type TestDatabase } from './testDatabase.js';
import { TestEnvironment } from './testEnvironment.js';
import { connectTestRedis } from './testRedis.js';
import { until } from './until.js';

/** The time limit of a hook that starts a stack, in milliseconds. On a busy machine each process takes seconds to start. */
export const STACK_START_MS_MAX = 90_000;

/** The secrets of the processes of a stack. */
export interface ProcessStackSecrets {
  pepper: string;
  secretKey: string;
  appSecret: string;
  verifyToken: string;
}

export interface ProcessStackOptions {
  apis?: number;
  workers?: number;
  /** Variables for the API and the workers. */
  env?: Record<string, string>;
  /** Starts a server between the workers and the simulator. @returns its address without a path */
  provider?: (simulatorUrl: string) => Promise<string>;
  /** A new database by default. The stack drops it when it stops. */
  db?: TestDatabase;
  /** The release of its first processes, see `ProcessStack.release`. */
  release?: string;
}

interface Running {
  process: StartedProcess;
  metricsUrl: string;
}

interface RunningApi extends Running {
  url: string;
}

interface ApiRequestParts extends RequestParts {
  /** The index of the API. */
  api?: number;
}

/** The built processes as in production: the simulator, the APIs and the workers, in their own test environment. */
export class ProcessStack extends TestEnvironment {
  readonly #processes: StartedProcess[] = [];
  readonly #apis: RunningApi[] = [];
  readonly #workers: Running[] = [];
  #env: Record<string, string> = {};
  #providerUrl = '';
  /** The secrets of processes that start later. */
  readonly secrets: ProcessStackSecrets = {
    pepper: randomBytes(32).toString('base64'),
    secretKey: randomBytes(32).toString('base64'),
    appSecret: randomBytes(16).toString('hex'),
    verifyToken: randomBytes(16).toString('hex'),
  };
  simulator!: SimulatorControl;

  private constructor(
    db: TestDatabase,
    redis: Redis,
    /** The folder of the build of processes that start later, with a slash at its end; '' is this checkout. */
    public release: string,
  ) {
    super(db, redis);
  }

  static async start(options: ProcessStackOptions = {}): Promise<ProcessStack> {
    const db = options.db ?? (await createTestDatabase());
    const stack = new ProcessStack(db, await connectTestRedis(), options.release ?? '');
    await stack.#start(options);
    return stack;
  }

  async #start({ apis = 1, workers = 1, env = {}, provider }: ProcessStackOptions): Promise<void> {
    this.#env = env;
    await Promise.all(Array.from({ length: apis }, () => this.startApi()));
    const simulator = this.#run('packages/simulator/dist/main.js', {
      ...this.#webhookSecrets(),
      PORT: '0',
      HOST: '127.0.0.1',
      WEBHOOK_URL: `${this.apis[0]}/webhooks/whatsapp`,
      SENT_DELAY_MS: '0',
      DELIVERED_DELAY_MS: '0',
    });
    const url = await until(
      'the simulator',
      () => /simulator ready: (http:\/\/[\d.]+:\d+)/.exec(simulator.output())?.[1],
    );
    this.simulator = new SimulatorControl(url);
    this.#providerUrl = provider === undefined ? url : await provider(url);
    await Promise.all(Array.from({ length: workers }, () => this.startWorker()));
  }

  /** Returns the addresses of the APIs. */
  get apis(): string[] {
    return this.#apis.map(({ url }) => url);
  }

  /** Returns the metrics addresses of the APIs and the workers. */
  get metrics(): string[] {
    return [...this.#apis, ...this.#workers].map(({ metricsUrl }) => metricsUrl);
  }

  /** Starts one more API. */
  async startApi(): Promise<void> {
    this.#apis.push(await this.#runApi(0));
  }

  /** Starts one more worker. */
  async startWorker(): Promise<void> {
    this.#workers.push(await this.#runWorker());
  }

  /** Stops an API gracefully, if it is running, and starts another one at its address, as a deployment does. */
  async replaceApi(api: number): Promise<void> {
    const { url } = this.#apis[api]!;
    await this.stopApi(api);
    this.#apis[api] = await this.#runApi(Number(new URL(url).port));
  }

  async stopApi(api: number): Promise<void> {
    await this.#apis[api]!.process.stop();
  }

  async stopWorker(worker: number): Promise<void> {
    await this.#workers[worker]!.process.stop();
  }

  /** Starts a worker in place of one that was stopped. */
  async restartWorker(worker: number): Promise<void> {
    this.#workers[worker] = await this.#runWorker();
  }

  async #runApi(port: number): Promise<RunningApi> {
    const process = this.#run(`${this.release}apps/api/dist/main.js`, {
      ...this.#shared(),
      ...this.#webhookSecrets(),
      CODE_PEPPER: this.secrets.pepper,
      PORT: String(port),
      BASE_URL: 'http://127.0.0.1:3000',
    });
    const { address, metrics_port: metricsPort } = await untilReady(process);
    return {
      process,
      url: `http://127.0.0.1:${(address as { port: number }).port}`,
      metricsUrl: `http://127.0.0.1:${String(metricsPort)}`,
    };
  }

  async #runWorker(): Promise<Running> {
    const process = this.#run(`${this.release}apps/worker/dist/main.js`, {
      ...this.#shared(),
      WHATSAPP_API_URL: `${this.#providerUrl}/v25.0`,
    });
    const metricsUrl = `http://127.0.0.1:${String((await untilReady(process))['metrics_port'])}`;
    return { process, metricsUrl };
  }

  #shared(): Record<string, string> {
    return {
      ...this.variables,
      SECRET_KEY: this.secrets.secretKey,
      METRICS_PORT: '0',
      DELIVERY_BACKOFF_MS: '50',
      ...this.#env,
    };
  }

  #webhookSecrets(): Record<string, string> {
    const { appSecret, verifyToken } = this.secrets;
    return { WHATSAPP_APP_SECRET: appSecret, WHATSAPP_VERIFY_TOKEN: verifyToken };
  }

  #run(path: string, env: Record<string, string>): StartedProcess {
    const started = startProcess(path, env);
    this.#processes.push(started);
    return started;
  }

  /** Returns the output of all processes so far. */
  output(): string {
    return this.#processes.map((process) => process.output()).join('\n');
  }

  /** Makes a request, to the first API by default. */
  request<Body = Record<string, unknown>>(
    method: string,
    path: string,
    { api = 0, ...parts }: ApiRequestParts = {},
  ): Promise<Answer<Body>> {
    return request(`${this.apis[api]}${path}`, method, parts);
  }

  /** Creates a send. @throws if it is not accepted */
  async create(key: string, body: object, parts: ApiRequestParts = {}): Promise<SendView> {
    return bodyOf(await this.request<SendView>('POST', '/v1/send', { ...parts, key, body }), 202);
  }

  async status(key: string, id: string, api = 0): Promise<SendView> {
    return bodyOf(await this.request<SendView>('GET', `/v1/send/${id}/status`, { key, api }), 200);
  }

  /** Waits until the API returns the send with this status. */
  async untilStatus(key: string, id: string, wanted: string): Promise<SendView> {
    return until(`a send that is ${wanted}`, async () => {
      const view = await this.status(key, id);
      return view.status === wanted && view;
    });
  }

  /** Waits until a worker has found no available sender for the send. */
  async untilWaiting(id: string): Promise<void> {
    await until('a send that waits for a sender', async () => {
      const waiting = await this.db.sql('select from sends where id = $1 and is_waiting', [id]);
      return waiting.length === 1;
    });
  }

  async verify(key: string, id: string, code: string, api = 0): Promise<unknown> {
    return (await this.request('POST', `/v1/send/${id}/verify`, { key, body: { code }, api })).body;
  }

  /** Runs an `onecode` command. Words are separated by spaces. @returns its JSON output. @throws if it fails */
  async onecode<Result = Record<string, string | number | null>>(words: string): Promise<Result> {
    const { pepper, secretKey } = this.secrets;
    const env = { DATABASE_URL: this.db.url, CODE_PEPPER: pepper, SECRET_KEY: secretKey };
    const command = startProcess(`${this.release}apps/cli/dist/main.js`, env, [
      ...words.split(' '),
      '--json',
    ]);
    const { code } = await command.exited;
    if (code !== 0 || command.stderr() !== '')
      throw new Error(`onecode ${words.split(' ', 2).join(' ')} ended with ${code}: ${command.stderr()}`);
    return JSON.parse(command.stdout()) as Result;
  }

  /** Creates an application with a key. @returns the key */
  async makeKey(accountId: string, mode: Mode): Promise<string> {
    return (await buildCaller(this.db.database, mode, { id: accountId })).key;
  }

  /** Adds the sender with this last digit: +1555078388… @returns its id */
  async addSender(digit = 1): Promise<string> {
    const sender = await buildSender(this.db.database, {
      phoneNumberId: `10654035224292${digit}`,
      number: `+1555078388${digit}`,
      secretKey: parseKeyring(this.secrets.secretKey),
    });
    return sender.id;
  }

  /** Stops every process and closes the environment. @throws if a process ends with an exit code other than 0 */
  async stop(): Promise<void> {
    const exits = await Promise.all(this.#processes.map((process) => process.stop()));
    await this.close();
    const failures = exits.filter(({ code }) => code !== 0);
    if (failures.length > 0) throw new Error(`processes ended with ${JSON.stringify(failures)}`);
  }
}
