import { createServer, type AddressInfo } from 'node:net';
import {
  buildCaller,
  keysOf,
  RawConnection,
  requestBytes,
  startProcess,
  startTcpProxy,
  testRedisUrl,
  until,
  untilReady,
  useTestEnvironment,
  type StartedProcess,
  type TestCaller,
} from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { apiVariables, bearer } from './testApi.js';

const environment = useTestEnvironment();
let caller: TestCaller;
let started: StartedProcess | undefined;
beforeAll(async () => {
  caller = await buildCaller(environment.db.database, 'live', { freeQuota: 100 });
});
afterEach(async () => {
  started?.signal('SIGKILL');
  await started?.exited;
});

function start(changes: Record<string, string>): StartedProcess {
  started = startProcess('apps/api/dist/main.js', {
    ...apiVariables(environment),
    LOG_LEVEL: 'info',
    ...changes,
  });
  return started;
}
async function startReady(
  changes: Record<string, string> = {},
): Promise<{ running: StartedProcess; port: number; metrics: string }> {
  const running = start(changes);
  const { address, metrics_port: metricsPort } = await untilReady(running);
  const { port } = address as AddressInfo;
  return { running, port, metrics: `http://127.0.0.1:${String(metricsPort)}` };
}
let recipients = 0;
/** Returns a body with a new recipient, because a recipient can have only a few active codes at a time. */
const newBody = (): string => JSON.stringify({ to: `+55119${80_000_000 + (recipients += 1)}` });
const create = (port: number, body = newBody(), by = caller) =>
  rawRequest(port, 'POST', '/v1/send', Object.entries(bearer(by)), body);

describe('an invalid environment', () => {
  it('is reported in one line for each invalid variable, without its value, and the exit code is 1', async () => {
    const malformed = {
      REDIS_URL: 'leaked',
      DOCS_URL: '/leaked',
      PORT: '65536',
      METRICS_PORT: '-1',
      CODE_PEPPER: 'bGVha2Vk==',
      SECRET_KEY: 'leaked leaked leaked leaked leaked!',
      DATABASE_CONNECTIONS: 'leaked',
      LOG_LEVEL: 'leaked',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'leaked:4318',
    };
    const missing = { DATABASE_URL: '', BASE_URL: '', WHATSAPP_APP_SECRET: '', WHATSAPP_VERIFY_TOKEN: '' };
    const faulty = start({ ...malformed, ...missing });
    expect((await faulty.exited).code).toBe(1);
    const lines = faulty.stderr().trimEnd().split('\n');
    for (const name of Object.keys(malformed))
      expect(lines.filter((line) => line.startsWith(`api: ${name} must `))).toHaveLength(1);
    for (const name of Object.keys(missing)) expect(lines).toContain(`api: ${name} is missing`);
    expect(lines).toHaveLength(13);
    expect(faulty.stderr()).not.toMatch(/leaked|bGVha2Vk|65536/);
    expect(faulty.stdout()).toBe('');
  });

  it('with a busy PORT is reported in one line, and the exit code is 1', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const late = start({ PORT: String(port) });
    expect((await late.exited).code).toBe(1);
    expect(late.stderr()).toMatch(
      new RegExp(`^api: could not start: listen EADDRINUSE: address already in use .*:${port}\n$`),
    );
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a running process', () => {
  it('starts and accepts sends without Redis, enqueues when Redis is available, and does not wait for a frozen Redis', async () => {
    const proxy = await startTcpProxy(testRedisUrl(), 'cut');
    const { running, port, metrics } = await startReady({ REDIS_URL: proxy.url });
    for (const base of [`http://127.0.0.1:${port}`, metrics])
      for (const path of ['/livez', '/readyz']) expect((await fetch(`${base}${path}`)).status).toBe(200);
    const created = await create(port);
    expect(created).toMatchObject({ status: 202, json: { status: 'queued' } });
    const [row] = await environment.db.sql('select due_at is not null as "isDue" from sends where id = $1', [
      created.json['id'],
    ]);
    expect(row).toEqual({ isDue: true });

    await proxy.open();
    await until('a send that was enqueued', async () => {
      await create(port);
      return (await keysOf(environment.redis, `${environment.prefix}:deliver`)).length > 0;
    });
    proxy.freeze();
    const begun = performance.now();
    for (let n = 0; n < 10; n++) expect((await create(port)).status).toBe(202);
    // The API abandons an enqueue after two seconds. Creations that waited for it would take twenty seconds.
    expect(performance.now() - begun).toBeLessThan(10_000);
    await proxy.open();

    // Without requests in progress, SIGINT also stops it at once.
    running.signal('SIGINT');
    expect((await running.exited).code).toBe(0);
    expect(running.log().at(-1)?.msg).toBe('stopped');
    await proxy.close();
  });

  it('stops on SIGTERM within ten seconds: it answers requests in progress, writes its counts, and does not wait for endless requests', async () => {
    const { running, port } = await startReady();
    const [asking, silent, idle] = [
      await RawConnection.open(port),
      await RawConnection.open(port),
      await RawConnection.open(port),
    ];
    const body = newBody();
    const headers: [string, string][] = [
      ['Host', 'x'],
      ...Object.entries(bearer(caller)),
      ['Content-Length', String(body.length)],
    ];
    const head = requestBytes('POST', '/v1/send', headers);
    idle.write(requestBytes('GET', '/livez', [['Host', 'x']]));
    await idle.answer();
    asking.write(head, body.slice(0, 5));
    silent.write(head);
    // The API reads this request after the bytes above, so it has read them when the response arrives.
    const other = await buildCaller(environment.db.database, 'test');
    await create(port, newBody(), other);

    const signalledAt = Date.now();
    running.signal('SIGTERM');
    await until('the line of its stop', () => running.log().some(({ msg }) => msg === 'stopping'));
    await idle.closed(5_000);
    await until('a refused connection', async () => {
      const late = await RawConnection.open(port).catch(() => null);
      late?.destroy();
      return late === null;
    });
    asking.write(body.slice(5));
    expect((await asking.answer('POST')).status).toBe(202);
    await asking.closed(5_000);
    expect((await running.exited).code).toBe(0);
    expect(Date.now() - signalledAt).toBeLessThan(10_000);
    silent.destroy();
    const [key] = await environment.db.sql('select last_used_at from api_keys where id = $1', [other.keyId]);
    expect(key).toEqual({ last_used_at: expect.any(Date) });
  });
});

/** `test/telemetry.test.ts` tests that log lines contain no secrets. */
it('the log has one line for each request, with the id of its response, and one at error level for a failure', async () => {
  const { running, port, metrics: metricsUrl } = await startReady();
  const created = await create(port);
  const own = Object.entries(bearer(caller));
  const answers = [
    created,
    await rawRequest(port, 'GET', `/v1/send/${String(created.json['id'])}/status?to=x`, own),
    await rawRequest(port, 'GET', '/unknown'),
    await create(port, '{'),
  ];
  await environment.db.sql(`alter table sends add constraint refused check (locale <> 'en') not valid`);
  answers.push(await create(port, newBody().replace('}', ',"locale":"en"}')));
  await environment.db.sql('alter table sends drop constraint refused');
  answers.push(await rawRequest(port, 'GET', '/docs/errors'));
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  expect(metrics).toMatch(/^onecode_http_request_seconds_count\{.*route="\/v1\/send",.*status="202".*\} 1$/m);
  expect(metrics).toContain('route="/v1/send/:id/status"');
  expect(metrics).toContain('route="/docs/{*page}"');
  running.signal('SIGTERM');
  expect(await running.exited).toEqual({ code: 0, signal: null });

  const requestLines = running.log().filter(({ msg }) => msg === 'request finished');
  expect(requestLines).toMatchObject(
    answers.map(({ headers, status }) => ({
      request_id: headers['x-request-id'],
      status,
      method: expect.any(String),
      route: expect.any(String),
      duration_ms: expect.any(Number),
    })),
  );
  expect(answers.map(({ status }) => status)).toEqual([202, 200, 404, 422, 500, 200]);
  expect(running.log().filter(({ level }) => level === 'error')).toMatchObject([
    { msg: 'request failed', request_id: answers[4]?.headers['x-request-id'] },
  ]);
});

describe('a process that serves several clients', () => {
  let running: StartedProcess;
  let port: number;
  beforeAll(async () => {
    ({ running, port } = await startReady());
    // It runs until the end of this block.
    started = undefined;
  });
  afterAll(async () => {
    running.signal('SIGKILL');
    await running.exited;
  });

  it('logs no status and no error for a request if the client leaves before the response', async () => {
    const leaving = await RawConnection.open(port);
    const body = newBody();
    const headers: [string, string][] = [
      ['Host', 'x'],
      ...Object.entries(bearer(caller)),
      ['Content-Length', String(body.length)],
    ];
    leaving.write(requestBytes('POST', '/v1/send', headers), body.slice(0, 5));
    // The API reads this request after the bytes above.
    const { headers: others } = await create(port);
    leaving.destroy();
    const lines = () =>
      running
        .log()
        .filter(({ msg, request_id: id }) => msg === 'request finished' && id !== others['x-request-id']);
    await until('its line', () => lines().length > 0);
    expect(lines()).toMatchObject([{ method: 'POST', route: '/v1/send' }]);
    expect(lines()[0]).not.toHaveProperty('status');
    expect(running.log().filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('continues after a client has reset its CONNECT request', async () => {
    for (let requests = 0; requests < 10; requests++) {
      const connection = await RawConnection.open(port);
      connection.write(requestBytes('CONNECT', 'x:1', [['Host', 'x']]));
      connection.socket.resetAndDestroy();
    }
    const answer = await create(port).catch((error: unknown) => error);
    expect(running.log().filter(({ level }) => level === 'fatal')).toEqual([]);
    expect(answer).toMatchObject({ status: 202 });
  });

  it('logs once that PostgreSQL closed its idle connections', async () => {
    await Promise.all(Array.from({ length: 12 }, () => create(port)));
    const [{ count }] = (await environment.db.sql(
      `select count(pg_terminate_backend(pid))::int from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )) as [{ count: number }];
    expect(count).toBeGreaterThan(2);
    const broken = () => running.log().filter(({ msg }) => msg === 'database connection lost');
    await until('the line of the broken connections', () => broken().length > 0);
    await until('a send on a new connection', async () => (await create(port)).status === 202);
    expect(broken()).toMatchObject([{ level: 'warn', err: { code: '57P01' } }]);
  });
});
