import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildCaller,
  startProcess,
  startTraceCollector,
  until,
  untilReady,
  useTestEnvironment,
  type StartedProcess,
} from '@onecode/testing';

const environment = useTestEnvironment();
const secret = (): string => randomBytes(32).toString('base64');
const REQUESTS = 200;
const CLIENTS = 4;
/** Two addresses of this machine: a server that listens only on the first does not answer on the second. */
const [LOOPBACK, OTHER] = ['127.0.0.1', '127.0.0.2'];
const hasIPv6 = Object.values(networkInterfaces()).some((own) =>
  own?.some(({ family }) => family === 'IPv6'),
);
/** The address at which images serve health and metrics; test/kubernetes checks that the manifests use it too. */
const IMAGE_METRICS_HOST = / METRICS_HOST=(\S+)$/m.exec(readFileSync('Dockerfile', 'utf8'))![1]!;

/** The secrets that each process requires. */
const SECRETS = {
  api: [
    'DATABASE_URL',
    'REDIS_URL',
    'CODE_PEPPER',
    'SECRET_KEY',
    'WHATSAPP_APP_SECRET',
    'WHATSAPP_VERIFY_TOKEN',
  ],
  worker: ['DATABASE_URL', 'REDIS_URL', 'SECRET_KEY'],
  console: ['DATABASE_URL', 'REDIS_URL', 'SESSION_SECRET', 'SECRET_KEY'],
} as const;
type Name = keyof typeof SECRETS;

let folder: string;
let values: Record<string, string>;
let started: StartedProcess | null = null;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'onecode-secrets-'));
  const { DATABASE_URL, REDIS_URL } = environment.variables;
  values = {
    DATABASE_URL,
    REDIS_URL,
    MIGRATE_DATABASE_URL: DATABASE_URL,
    CODE_PEPPER: secret(),
    SECRET_KEY: secret(),
    SESSION_SECRET: secret(),
    WHATSAPP_APP_SECRET: 'a planted app secret',
    WHATSAPP_VERIFY_TOKEN: 'a planted verify token',
  };
  for (const [name, value] of Object.entries(values)) writeFileSync(join(folder, name), `${value}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  started?.signal('SIGKILL');
  await started?.exited;
});

const filesOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [`${name}_FILE`, join(folder, name)]));

/** Starts a process with these variables and the required ones that are not secrets. */
function start(name: Name, env: Record<string, string>): StartedProcess {
  started = startProcess(`apps/${name}/dist/main.js`, {
    QUEUE_PREFIX: environment.variables.QUEUE_PREFIX,
    BASE_URL: 'http://localhost:3000',
    CONSOLE_URL: 'http://localhost:3001',
    WHATSAPP_API_URL: 'http://127.0.0.1:1/v25.0',
    PORT: '0',
    METRICS_PORT: '0',
    ...env,
  });
  return started;
}

async function isServed(host: string, port: number): Promise<boolean> {
  const answer = await fetch(`http://${host}:${port}/livez`).catch(() => null);
  return answer?.status === 200;
}

it('the API listens only at HOST', async () => {
  const { address } = await untilReady(start('api', { ...filesOf(SECRETS.api), HOST: LOOPBACK }));
  const { port } = address as { port: number };
  expect([await isServed(LOOPBACK, port), await isServed(OTHER, port)]).toEqual([true, false]);
});

describe.each(['api', 'worker', 'console'] as const)('the %s', (name) => {
  it('reads its secrets from files, listens as in an image, answers 431 to large headers, and stops after SHUTDOWN_DELAY_MS', async () => {
    const process = start(name, {
      ...filesOf(SECRETS[name]),
      HOST: '',
      METRICS_HOST: IMAGE_METRICS_HOST,
      LOG_LEVEL: 'trace',
      SHUTDOWN_DELAY_MS: '300',
    });
    const ready = await untilReady(process);
    const metricsPort = ready['metrics_port'] as number;
    for (const host of [LOOPBACK, OTHER, ...(hasIPv6 ? ['[::1]'] : [])])
      expect([host, await isServed(host, metricsPort)]).toEqual([host, true]);
    const { port } = (ready['address'] ?? {}) as { port?: number };
    for (const each of [port, metricsPort].filter((one) => one !== undefined))
      for (const [bytes, isRead] of [
        [7_500, true],
        [8_300, false],
      ] as const) {
        const headers = { 'X-Long': 'a'.repeat(bytes) };
        const { status } = await fetch(`http://${OTHER}:${each}/`, { headers });
        expect([each, bytes, status !== 431]).toEqual([each, bytes, isRead]);
      }
    process.signal('SIGTERM');
    expect((await process.exited).code).toBe(0);
    const messages = process.log().filter(({ msg }) => ['stopping', 'stopped'].includes(msg ?? ''));
    const stopping = name === 'worker' ? {} : { delay_ms: 300 };
    expect(messages).toMatchObject([{ msg: 'stopping', ...stopping }, { msg: 'stopped' }]);
    expect(SECRETS[name].filter((one) => process.output().includes(values[one]!))).toEqual([]);
  });
});

it('the console exports one span for each request of its API, with the route instead of the path', async () => {
  const collector = await startTraceCollector();
  const console = start('console', {
    ...filesOf(SECRETS.console),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  });
  const { port } = (await untilReady(console))['address'] as { port: number };
  await fetch(`http://${LOOPBACK}:${port}/icon.svg`);
  await fetch(`http://${LOOPBACK}:${port}/api/accounts/${randomUUID()}/overview`);
  console.signal('SIGTERM');
  expect((await console.exited).code).toBe(0);
  const server = collector.spans().filter(({ attributes }) => 'http.route' in attributes);
  expect(server).toMatchObject([
    { service: 'onecode-console', name: expect.stringMatching(/^GET .*:account\w*\/overview$/) },
  ]);
});

it('the API ends with one line for each unreadable file and a secret that is set twice', async () => {
  const [first, second, ...rest] = SECRETS.api;
  const process = start('api', {
    ...filesOf([first, ...rest]),
    [first]: values[first]!,
    [`${second}_FILE`]: join(folder, 'planted'),
  });
  expect((await process.exited).code).toBe(1);
  const lines = [
    `api: ${first} and ${first}_FILE are both set: set only one of them`,
    `api: ${second} cannot be read: ${second}_FILE must name a readable file in UTF-8 (ENOENT)`,
  ];
  expect(process.stderr().trimEnd().split('\n').toSorted()).toEqual(lines.toSorted());
});

it('the API names each variable with a password that is not percent-encoded, and the remedy', async () => {
  const process = start('api', {
    ...filesOf(SECRETS.api.slice(2)),
    DATABASE_URL: 'postgres://u:lea#ked@h/d',
    REDIS_URL: 'redis://:50%leaked@host:6379',
  });
  expect((await process.exited).code).toBe(1);
  const lines = process.stderr().trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  for (const variable of ['DATABASE_URL', 'REDIS_URL'])
    expect(lines).toContainEqual(
      expect.stringMatching(
        `^api: ${variable} must have a valid host and port, .* percent-encoded: % as %25`,
      ),
    );
  expect(process.output()).not.toMatch(/lea#?ked/);
});

describe('PostgreSQL behind a socket in a folder', () => {
  let server: Server;
  /** In the two forms that libpq and Google's documentation give. */
  let urls: string[];
  beforeAll(async () => {
    const { hostname, port, username, password, pathname } = new URL(values['DATABASE_URL']!);
    server = createServer((client) => {
      const upstream = connect(Number(port), hostname);
      client.on('error', () => upstream.destroy()).pipe(upstream);
      upstream.on('error', () => client.destroy()).pipe(client);
    });
    // The characters that Google's folders have.
    const sockets = join(folder, 'project:region:db');
    mkdirSync(sockets);
    await new Promise<void>((resolve) => server.listen(join(sockets, '.s.PGSQL.5444'), resolve));
    urls = [
      `postgresql://${username}:${password}@${pathname}?host=${sockets}&port=5444`,
      `postgresql://${username}:${password}@${encodeURIComponent(sockets)}:5444${pathname}`,
    ];
  });
  afterAll(() => server.close());

  it('serves the API, migrations and the command line', async () => {
    const others = filesOf(SECRETS.api.slice(1));
    const { metrics_port: port } = await untilReady(start('api', { ...others, DATABASE_URL: urls[0]! }));
    expect((await fetch(`http://127.0.0.1:${String(port)}/readyz`)).status).toBe(200);
    for (const DATABASE_URL of urls) {
      const migration = startProcess('packages/store/dist/migrate.js', { DATABASE_URL });
      expect([(await migration.exited).code, migration.output()]).toEqual([
        0,
        'The database is up to date.\n',
      ]);
    }
    const doctor = startProcess('apps/cli/dist/main.js', { DATABASE_URL: urls[1]! }, ['doctor']);
    await doctor.exited;
    expect(doctor.output()).toMatch(/^database +yes +PostgreSQL/m);
  });
});

it('the API ends with one line for an address of another machine in METRICS_HOST', async () => {
  const process = start('api', { ...filesOf(SECRETS.api), METRICS_HOST: '192.0.2.1' });
  expect((await process.exited).code).toBe(1);
  expect(process.stderr()).toMatch(/^api: could not start: listen EADDRNOTAVAIL: .* 192\.0\.2\.1\n$/);
});

it.each<[Name, string, (address: URL) => void, RegExp]>([
  [
    'api',
    'a wrong password',
    (address) => (address.password = 'not-the-password'),
    /password authentication failed/,
  ],
  [
    'worker',
    'a database that does not exist',
    (address) => (address.pathname = '/no_such_one'),
    /database "no_such_one" does not exist/,
  ],
  [
    'console',
    'a server without the required TLS',
    (address) => (address.search = '?sslmode=verify-full'),
    /The server does not support SSL connections/,
  ],
])('the %s with %s waits, and logs one warning without the password', async (name, _, spoil, reason) => {
  const address = new URL(values['DATABASE_URL']!);
  const passwords = [address.password];
  spoil(address);
  passwords.push(address.password);
  const others = filesOf(SECRETS[name].filter((one) => one !== 'DATABASE_URL'));
  const process = start(name, { ...others, DATABASE_URL: address.href, LOG_LEVEL: 'info' });
  const warnings = () => process.log().filter(({ msg }) => msg === 'service unavailable');
  await until('the warning', () => warnings().length > 0, 60_000);
  const port = process.log().find(({ msg }) => msg === 'ready')!['metrics_port'] as number;
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringMatching(reason)]);
  expect(warnings()).toMatchObject([
    { level: 'warn', service: 'database', reason: expect.stringMatching(reason) },
  ]);
  expect(process.ended()).toBeNull();
  for (const word of passwords.filter((one) => one !== '')) expect(process.output()).not.toContain(word);
});

describe('the migrations', () => {
  const migrate = (env: Record<string, string>) => startProcess('packages/store/dist/migrate.js', env);

  it.each(['DATABASE_URL', 'MIGRATE_DATABASE_URL'])('take %s from a file', async (name) => {
    const process = migrate(filesOf([name]));
    expect((await process.exited).code).toBe(0);
    expect(process.output()).toBe('The database is up to date.\n');
  });

  it('require a direct address of PostgreSQL when DATABASE_URL is a pooler', async () => {
    const process = migrate({ DATABASE_URL: values['DATABASE_URL']!, DATABASE_POOLER: 'transaction' });
    expect((await process.exited).code).toBe(1);
    expect(process.output()).toMatch(/^MIGRATE_DATABASE_URL is missing: [^\n]*\n$/);
  });

  it('end with one line for an unreadable file', async () => {
    const process = migrate({ DATABASE_URL_FILE: join(folder, 'planted') });
    expect((await process.exited).code).toBe(1);
    expect(process.output()).toBe(
      'DATABASE_URL cannot be read: DATABASE_URL_FILE must name a readable file in UTF-8 (ENOENT)\n',
    );
  });
});

interface Answer {
  status: number;
  body: string;
  connection: string | undefined;
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

describe.each(['api', 'console'] as const)('the %s with SHUTDOWN_DELAY_MS', (name) => {
  it('answers every request after SIGTERM, on new and old connections, while it is not ready', async () => {
    const account = { freeQuota: 1_000_000, ratePerMinute: 1_000_000 };
    const caller = await buildCaller(environment.db.database, 'live', account);
    const headers = { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json' };
    /** Each send has a separate recipient, because a recipient's active codes are limited. */
    let recipients = 0;
    const work = (at: number, agent: Agent | false): Promise<Answer> => {
      if (name === 'console') return ask(at, '/', agent);
      const body = JSON.stringify({ to: `+55119${String(10_000_000 + ++recipients)}` });
      return ask(at, '/v1/send', agent, { headers, body });
    };

    const process = start(name, { ...filesOf(SECRETS[name]), SHUTDOWN_DELAY_MS: '120000' });
    const ready = await untilReady(process);
    const { port } = ready['address'] as { port: number };
    const metricsPort = ready['metrics_port'] as number;
    expect(await isServed(OTHER, metricsPort)).toBe(false);
    const kept = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const answers: Answer[] = [];
    let isEnough = false;
    const clients = [kept, false as const].flatMap((agent) =>
      Array.from({ length: CLIENTS }, async () => {
        while (!isEnough) answers.push(await work(port, agent));
      }),
    );
    const all = Promise.all(clients);
    all.catch(() => {});
    try {
      await until('answers on connections that stay open', () =>
        answers.some(({ connection }) => connection === 'keep-alive'),
      );
      process.signal('SIGTERM');
      for (const one of name === 'api' ? [port, metricsPort] : [metricsPort])
        await until('a process that says that it is not ready', async () => {
          const { status, body } = await ask(one, '/readyz', false);
          return status === 503 && body.startsWith('not ready: stopping\n');
        });
      expect((await ask(metricsPort, '/livez', false)).status).toBe(200);
      const before = answers.length;
      await until('many more answers', () => answers.length >= before + REQUESTS, 45_000);
    } finally {
      isEnough = true;
    }
    // No request failed: a failure would have rejected.
    await all;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([name === 'api' ? 202 : 200]));
    // A client with a kept connection gets "Connection: close".
    expect((await work(port, kept)).connection).toBe('close');
    expect(process.ended()).toBeNull();
    kept.destroy();
  });
});
