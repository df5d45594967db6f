import { randomBytes } from 'node:crypto';
import {
  closedPort,
  startProcess,
  testRedisUrl,
  until,
  useTestDatabase,
  type StartedProcess,
} from '@onecode/testing';

const store = useTestDatabase();
const secret = (): string => randomBytes(32).toString('base64');

/** The variables of all processes; each reads its own. */
const environment = (): Record<string, string> => ({
  DATABASE_URL: store.url,
  REDIS_URL: testRedisUrl(),
  QUEUE_PREFIX: `test-${randomBytes(6).toString('hex')}`,
  BASE_URL: 'http://localhost:3000',
  CONSOLE_URL: 'http://localhost:3001',
  WHATSAPP_API_URL: 'http://127.0.0.1:1/v25.0',
  WEBHOOK_URL: 'http://127.0.0.1:1/webhooks/whatsapp',
  CODE_PEPPER: secret(),
  SECRET_KEY: secret(),
  SESSION_SECRET: secret(),
  WHATSAPP_APP_SECRET: 'secret',
  WHATSAPP_VERIFY_TOKEN: 'token',
  HOST: '0.0.0.0',
  PORT: '0',
});

/** Two addresses of this machine: a server that listens only on the first does not answer on the second. */
const [LOOPBACK, OTHER] = ['127.0.0.1', '127.0.0.2'];

async function isServed(host: string, port: number): Promise<boolean> {
  const answer = await fetch(`http://${host}:${port}/livez`).catch(() => null);
  return answer?.status === 200;
}

describe.each(['apps/api', 'apps/worker', 'apps/console', 'packages/simulator'])(
  'the metrics of %s',
  (path) => {
    let process: StartedProcess | null = null;
    afterEach(() => process?.stop());

    async function serve(changes: Record<string, string>): Promise<number> {
      const port = await closedPort();
      const started = startProcess(`${path}/dist/main.js`, {
        ...environment(),
        METRICS_PORT: String(port),
        ...changes,
      });
      process = started;
      await until('a process that is up', async () => {
        if (started.ended() !== null) throw new Error(`the process ended:\n${started.output()}`);
        return isServed(LOOPBACK, port);
      });
      return port;
    }

    it('are served to this machine only unless METRICS_HOST says otherwise', async () => {
      expect(await isServed(OTHER, await serve({}))).toBe(false);
    });

    it('are served on the address in METRICS_HOST', async () => {
      expect(await isServed(OTHER, await serve({ METRICS_HOST: '0.0.0.0' }))).toBe(true);
    });

    it.each([
      ['no address', '127.0.0.1:9090', 'METRICS_HOST must be an IP address or a host name'],
      ['an address of another machine', '192.0.2.1', 'this machine has no address 192.0.2.1'],
    ])('are refused in one clear line where METRICS_HOST is %s', async (_, METRICS_HOST, line) => {
      process = startProcess(`${path}/dist/main.js`, { ...environment(), METRICS_PORT: '0', METRICS_HOST });
      expect((await process.exited).code).toBe(1);
      expect(process.stderr()).toBe(`${path.split('/')[1]}: ${line}\n`);
    });
  },
);
