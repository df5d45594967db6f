import { randomBytes } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import {
  buildCaller,
  startProcess,
  until,
  untilReady,
  useTestEnvironment,
  type StartedProcess,
  type TestCaller,
} from '@onecode/testing';

const environment = useTestEnvironment();
const secret = (): string => randomBytes(32).toString('base64');
const REQUESTS = 200;
const CLIENTS = 4;

interface Answer {
  status: number;
  body: string;
  connection: string | undefined;
}

/** Each send has a recipient of its own: a person may have only so many open codes. */
let recipients = 0;
let caller: TestCaller;
let started: StartedProcess | null = null;
beforeAll(async () => {
  caller = await buildCaller(environment.db.database, 'live', {
    freeQuota: 1_000_000,
    ratePerMinute: 1_000_000,
  });
});
afterEach(async () => {
  started?.signal('SIGKILL');
  await started?.exited;
});

async function start(
  name: string,
  delayMs: number,
): Promise<{ process: StartedProcess; port: number; metricsPort: number }> {
  started = startProcess(`apps/${name}/dist/main.js`, {
    ...environment.variables,
    BASE_URL: 'http://localhost:3000',
    CONSOLE_URL: 'http://localhost:3001',
    CODE_PEPPER: secret(),
    SECRET_KEY: secret(),
    SESSION_SECRET: secret(),
    WHATSAPP_APP_SECRET: 'secret',
    WHATSAPP_VERIFY_TOKEN: 'token',
    PORT: '0',
    METRICS_PORT: '0',
    SHUTDOWN_DELAY_MS: String(delayMs),
  });
  const { address, metrics_port: metricsPort } = await untilReady(started);
  return { process: started, port: (address as { port: number }).port, metricsPort: metricsPort as number };
}

/** @param agent false opens a connection for this request alone */
function ask(
  port: number,
  path: string,
  agent: Agent | false,
  send?: { headers: Record<string, string>; body: string },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(
      {
        host: '127.0.0.1',
        port,
        path,
        agent,
        method: send === undefined ? 'GET' : 'POST',
        headers: send?.headers,
      },
      (response: IncomingMessage) => {
        let body = '';
        response
          .setEncoding('utf8')
          .on('data', (chunk: string) => (body += chunk))
          .on('error', reject)
          .on('end', () =>
            resolve({ status: response.statusCode ?? 0, body, connection: response.headers.connection }),
          );
      },
    );
    asking.on('error', reject).end(send?.body);
  });
}

const WORK = {
  api: {
    status: 202,
    ask: (port: number, agent: Agent | false) =>
      ask(port, '/v1/send', agent, {
        headers: { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ to: `+55119${String(10_000_000 + ++recipients)}` }),
      }),
  },
  console: { status: 200, ask: (port: number, agent: Agent | false) => ask(port, '/', agent) },
} as const;

describe.each(['api', 'console'] as const)('the %s with SHUTDOWN_DELAY_MS', (name) => {
  const work = WORK[name];

  it('answers every request after SIGTERM, on connections new and old, while it says that it is not ready', async () => {
    const { process, port, metricsPort } = await start(name, 120_000);
    const kept = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const answers: Answer[] = [];
    let isEnough = false;
    const clients = [kept, false as const].flatMap((agent) =>
      Array.from({ length: CLIENTS }, async () => {
        while (!isEnough) answers.push(await work.ask(port, agent));
      }),
    );
    const all = Promise.all(clients);
    all.catch(() => {});
    try {
      await until('answers on connections that stay open', () =>
        answers.some(({ connection }) => connection === 'keep-alive'),
      );
      process.signal('SIGTERM');
      const ports = name === 'api' ? [port, metricsPort] : [metricsPort];
      for (const one of ports)
        await until('a process that says that it is not ready', async () => {
          const ready = await ask(one, '/readyz', false);
          return ready.status === 503 && ready.body.startsWith('not ready: stopping\n');
        });
      expect((await ask(metricsPort, '/livez', false)).status).toBe(200);
      const before = answers.length;
      await until('many more answers', () => answers.length >= before + REQUESTS, 45_000);
    } finally {
      isEnough = true;
    }
    // No request failed: a failure would have rejected.
    await all;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([work.status]));
    // A client that keeps its connection is told to leave it.
    expect((await work.ask(port, kept)).connection).toBe('close');
    expect(process.ended()).toBeNull();
    kept.destroy();
  });

  it('stops after that time with exit code 0', async () => {
    const { process, port } = await start(name, 300);
    process.signal('SIGTERM');
    expect((await process.exited).code).toBe(0);
    const messages = process.log().filter(({ msg }) => msg !== 'request');
    expect(messages.slice(-2)).toMatchObject([{ msg: 'stopping', delay_ms: 300 }, { msg: 'stopped' }]);
    await expect(work.ask(port, false)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
