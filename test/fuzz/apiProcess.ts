import { randomBytes } from 'node:crypto';
import {
  createTestDatabase,
  deleteKeys,
  startProcess,
  testRedisUrl,
  untilReady,
  type LogLine,
  type StartedProcess,
  type TestDatabase,
} from '@onecode/testing';
import { Redis } from 'ioredis';

/** Metrics of the process. */
export interface ProcessMetrics {
  residentMib: number;
  heapMib: number;
  sockets: number;
}

const MIB = 2 ** 20;
const HEAP_MIB_MAX = 128;

/** The built API as a process with its own database and queue prefix. */
export class ApiProcess {
  readonly secrets = {
    appSecret: randomBytes(16).toString('hex'),
    verifyToken: randomBytes(16).toString('hex'),
  };
  readonly #prefix = `test-${randomBytes(6).toString('hex')}`;
  #process!: StartedProcess;
  #metricsUrl = '';
  port = 0;

  private constructor(readonly db: TestDatabase) {}

  static async start(): Promise<ApiProcess> {
    const api = new ApiProcess(await createTestDatabase());
    await api.#start();
    return api;
  }

  async #start(): Promise<void> {
    this.#process = startProcess('apps/api/dist/main.js', {
      // A growing heap is then collected early, and a leak ends the process.
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB_MAX}`,
      DATABASE_URL: this.db.url,
      REDIS_URL: testRedisUrl(),
      QUEUE_PREFIX: this.#prefix,
      PORT: '0',
      METRICS_PORT: '0',
      BASE_URL: 'http://codes.test',
      CODE_PEPPER: randomBytes(32).toString('base64'),
      SECRET_KEY: randomBytes(32).toString('base64'),
      WHATSAPP_APP_SECRET: this.secrets.appSecret,
      WHATSAPP_VERIFY_TOKEN: this.secrets.verifyToken,
    });
    const line = await untilReady(this.#process);
    this.port = (line['address'] as { port: number }).port;
    this.#metricsUrl = `http://127.0.0.1:${String(line['metrics_port'])}`;
  }

  async metrics(): Promise<ProcessMetrics> {
    const text = await (await fetch(`${this.#metricsUrl}/metrics`)).text();
    const metric = (name: string, label = ''): number => {
      const found = new RegExp(`^${name}\\{[^}]*${label}[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1];
      if (found === undefined) throw new Error(`the process has no metric ${name} ${label}`);
      return Number(found);
    };
    return {
      residentMib: metric('process_resident_memory_bytes') / MIB,
      heapMib: metric('nodejs_heap_size_used_bytes') / MIB,
      sockets: metric('nodejs_active_resources', 'type="TCPSocketWrap"'),
    };
  }

  /** Whether `/readyz` answers 200. */
  async isReady(): Promise<boolean> {
    return (await fetch(`${this.#metricsUrl}/readyz`)).status === 200;
  }

  /** How it ended, or null while it runs. */
  ended(): string | null {
    const exit = this.#process.ended();
    return exit === null ? null : `${JSON.stringify(exit)}\n${this.#process.output().slice(-3_000)}`;
  }

  /** Its log lines with an error, and everything on standard error. */
  errors(): (LogLine | string)[] {
    const lines = this.#process.log().filter(({ level }) => level === 'error' || level === 'fatal');
    const stderr = this.#process.stderr();
    return stderr === '' ? lines : [...lines, stderr];
  }

  /** Stops it. @returns its exit code */
  async stop(): Promise<number | null> {
    const { code } = await this.#process.stop();
    const redis = new Redis(testRedisUrl());
    await deleteKeys(redis, this.#prefix);
    redis.disconnect();
    await this.db.drop();
    return code;
  }
}
