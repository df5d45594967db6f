import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createTestDatabase, type TestDatabase } from '@onecode/store/testing';
import { deleteKeys, testRedisUrl } from '../harness/redisContents.js';
import { startProcess, untilReady, type LogLine, type StartedProcess } from '../harness/startedProcess.js';

/** What the process says about itself. */
export interface Figures {
  residentMib: number;
  heapMib: number;
  sockets: number;
}

const MIB = 2 ** 20;
const HEAP_MIB_MAX = 128;

/** The built API as a process of its own, with a database and a queue prefix of its own. */
export class Target {
  readonly secrets = {
    appSecret: randomBytes(16).toString('hex'),
    verifyToken: randomBytes(16).toString('hex'),
  };
  readonly #prefix = `test-${randomBytes(6).toString('hex')}`;
  #process!: StartedProcess;
  #metricsUrl = '';
  port = 0;

  private constructor(readonly db: TestDatabase) {}

  static async start(): Promise<Target> {
    const target = new Target(await createTestDatabase());
    await target.#start();
    return target;
  }

  async #start(): Promise<void> {
    this.#process = startProcess('apps/api/dist/main.js', {
      // So that a heap that grows is collected early, and one that cannot be collected ends the process.
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

  async figures(): Promise<Figures> {
    const text = await (await fetch(`${this.#metricsUrl}/metrics`)).text();
    const figure = (name: string, label = ''): number => {
      const found = new RegExp(`^${name}\\{[^}]*${label}[^}]*\\} (\\S+)$`, 'm').exec(text)?.[1];
      if (found === undefined) throw new Error(`the process says nothing of ${name} ${label}`);
      return Number(found);
    };
    return {
      residentMib: figure('process_resident_memory_bytes') / MIB,
      heapMib: figure('nodejs_heap_size_used_bytes') / MIB,
      sockets: figure('nodejs_active_resources', 'type="TCPSocketWrap"'),
    };
  }

  /** Whether it says that it is ready. */
  async isReady(): Promise<boolean> {
    return (await fetch(`${this.#metricsUrl}/readyz`)).status === 200;
  }

  /** How it ended, or null while it runs. */
  ended(): string | null {
    const exit = this.#process.ended();
    return exit === null ? null : `${JSON.stringify(exit)}\n${this.#process.output().slice(-3_000)}`;
  }

  /** Lines of its log that say that something broke, and everything on standard error. */
  complaints(): (LogLine | string)[] {
    const bad = this.#process.log().filter(({ level }) => level === 'error' || level === 'fatal');
    const stderr = this.#process.stderr();
    return stderr === '' ? bad : [...bad, stderr];
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
