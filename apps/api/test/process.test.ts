import { createHmac } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import {
  buildCaller,
  closedPort,
  keysOf,
  RawConnection,
  requestBytes,
  startTcpProxy,
  testRedisUrl,
  until,
  useTestEnvironment,
  type TestCaller,
} from '@onecode/testing';
import { rawRequest } from '@onecode/testing/contract';
import { APP_SECRET, apiVariables, bearer, PHONE, VERIFY_TOKEN } from './testApi.js';
import { ApiProcess } from './apiProcess.js';

const environment = useTestEnvironment();
let caller: TestCaller;
const processes: ApiProcess[] = [];

beforeAll(async () => {
  caller = await buildCaller(environment.db.database, 'live', { freeQuota: 100 });
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => one.end()));
});

function start(changes: Record<string, string> = {}): ApiProcess {
  const started = ApiProcess.start({ ...apiVariables(environment), LOG_LEVEL: 'info', ...changes });
  processes.push(started);
  return started;
}
const create = (port: number, body = JSON.stringify({ to: PHONE }), ...headers: [string, string][]) =>
  rawRequest(port, 'POST', '/v1/send', [...Object.entries(bearer(caller)), ...headers], body);
/** A server that occupies a port. */
async function taken(): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0);
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

describe('a wrong environment', () => {
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

  it('is reported in one line for each missing variable, and the exit code is 1', async () => {
    const bare = ApiProcess.start({});
    processes.push(bare);
    expect(await bare.exited()).toBe(1);
    expect(new Set(lines(bare.stderr))).toEqual(
      new Set(
        [
          'DATABASE_URL',
          'REDIS_URL',
          'BASE_URL',
          'CODE_PEPPER',
          'SECRET_KEY',
          'WHATSAPP_APP_SECRET',
          'WHATSAPP_VERIFY_TOKEN',
        ].map((name) => `api: ${name} is missing`),
      ),
    );
    expect(bare.stdout).toBe('');
  });

  it('is reported in one line for each malformed variable, without its value', async () => {
    const wrong = {
      DATABASE_URL: 'mysql://user:leaked@db/x',
      REDIS_URL: 'leaked',
      BASE_URL: 'ftp://leaked',
      DOCS_URL: '/leaked',
      PORT: '65536',
      METRICS_PORT: '-1',
      CODE_PEPPER: 'bGVha2Vk==',
      SECRET_KEY: 'leaked leaked leaked leaked leaked!',
      DELIVERY_ATTEMPTS: 'leaked',
      LOG_LEVEL: 'leaked',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'leaked:4318',
      OTEL_TRACES_SAMPLER: 'leaked',
      OTEL_TRACES_SAMPLER_ARG: '1.leaked',
    };
    const faulty = start({ ...wrong, WHATSAPP_APP_SECRET: '' });
    expect(await faulty.exited()).toBe(1);
    const told = lines(faulty.stderr);
    for (const name of Object.keys(wrong))
      expect(told.filter((line) => line.startsWith(`api: ${name} must `))).toHaveLength(1);
    expect(told).toContain('api: WHATSAPP_APP_SECRET is missing');
    expect(told).toHaveLength(Object.keys(wrong).length + 1);
    expect(faulty.stderr).not.toMatch(/leaked|bGVha2Vk|65536/);
    expect(faulty.stdout).toBe('');
  });

  it.each(['PORT', 'METRICS_PORT'])(
    'with a busy %s is told in one line, and ends the process with 1',
    async (name) => {
      const { server, port } = await taken();
      const late = start({ [name]: String(port) });
      expect(await late.exited()).toBe(1);
      expect(late.stderr).toBe(`api: port ${port} is in use\n`);
      await new Promise((resolve) => server.close(resolve));
    },
  );
});

describe('a running process', () => {
  it('starts, is ready and accepts sends without Redis', async () => {
    const { port, metricsPort } = await start({
      REDIS_URL: `redis://127.0.0.1:${await closedPort()}`,
    }).ready();
    expect((await rawRequest(port, 'GET', '/readyz')).status).toBe(200);
    for (const path of ['/livez', '/readyz'])
      expect((await fetch(`http://127.0.0.1:${metricsPort}${path}`)).status).toBe(200);
    const created = await create(port);
    expect(created).toMatchObject({ status: 202, json: { status: 'queued' } });
    const [row] = await environment.db.sql(
      'select next_enqueue_at is not null as "isDue" from sends where id = $1',
      [created.json['id']],
    );
    expect(row).toEqual({ isDue: true });
  });

  it('does not wait for a frozen Redis', async () => {
    const proxy = await startTcpProxy(testRedisUrl());
    const { port } = await start({ REDIS_URL: proxy.url }).ready();
    await until('a send that was enqueued', async () => {
      await create(port);
      return (await keysOf(environment.redis, `${environment.prefix}:deliver`)).length > 0;
    });
    proxy.freeze();
    const begun = performance.now();
    for (let n = 0; n < 10; n++) expect((await create(port)).status).toBe(202);
    // The API abandons an enqueue after two seconds. Creations that waited for that would take twenty.
    expect(performance.now() - begun).toBeLessThan(10_000);
    await proxy.close();
  });

  it('counts its requests by route, and shows no path', async () => {
    const { port, metricsPort } = await start().ready();
    await create(port);
    await rawRequest(port, 'GET', '/v1/send/leaked-id/status');
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    expect(metrics).toMatch(
      /onecode_http_request_seconds_count\{.*route="\/v1\/send",.*status="202".*\} 1\n/,
    );
    expect(metrics).toContain('route="/v1/send/:id/status"');
    expect(metrics).not.toContain('leaked-id');
  });

  it('stops on SIGTERM within ten seconds with exit code 0: it answers requests under way, and does not wait for those that never end', async () => {
    const running = start();
    const { port } = await running.ready();
    const [asking, silent, idle] = [
      await RawConnection.open(port),
      await RawConnection.open(port),
      await RawConnection.open(port),
    ];
    const body = JSON.stringify({ to: PHONE });
    const headers = [
      ['Host', 'x'],
      ...Object.entries(bearer(caller)),
      ['Content-Length', String(body.length)],
    ];
    const head = requestBytes('POST', '/v1/send', headers as [string, string][]);
    idle.write(requestBytes('GET', '/livez', [['Host', 'x']]));
    await idle.answer();
    asking.write(head, body.slice(0, 5));
    silent.write(head);
    // Its answer comes after those bytes, so they have been read.
    await create(port);

    const signalledAt = Date.now();
    running.signal('SIGTERM');
    await running.line('stopping');
    await idle.closed(5_000);
    await until('a refused connection', async () => {
      const late = await RawConnection.open(port).catch(() => null);
      late?.destroy();
      return late === null;
    });
    asking.write(body.slice(5));
    expect((await asking.answer('POST')).status).toBe(202);
    await asking.closed(5_000);
    expect(await running.exited()).toBe(0);
    expect(Date.now() - signalledAt).toBeLessThan(10_000);
    silent.destroy();
  });

  it('stops at once on SIGTERM and on SIGINT when nothing is under way', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const running = start();
      const { port } = await running.ready();
      await create(port);
      running.signal(signal);
      expect(await running.exited()).toBe(0);
      expect(running.log.at(-1)?.msg).toBe('stopped');
      expect(running.stderr).toBe('');
    }
  });
});

describe('the log at level trace', () => {
  const CODE = '7391846205';
  const TO = '+5511912345678';
  const KEY = 'leaked-idempotency-key';
  const WAMID = 'wamid.HBgNNTUxMTkxMjM0NTY3OA==';

  it('has one line for each request, with the id of its answer, and no secret in any', async () => {
    const running = start({ LOG_LEVEL: 'trace' });
    const { port } = await running.ready();
    const key: [string, string] = ['Idempotency-Key', KEY];
    const own = Object.entries(bearer(caller));
    const body = JSON.stringify({ to: TO, code: CODE });
    const webhook = JSON.stringify({
      entry: [{ changes: [{ value: { statuses: [{ id: WAMID, status: 'read' }] } }] }],
    });
    const signature = `sha256=${createHmac('sha256', APP_SECRET).update(webhook).digest('hex')}`;
    const post = (path: string, headers: [string, string][], text: string) =>
      rawRequest(port, 'POST', path, headers, text);

    const created = await create(port, body, key);
    const path = `/v1/send/${String(created.json['id'])}`;
    const answers = [
      created,
      await create(port, body, key),
      await create(port, `${body} `, key),
      await create(port, `{"to":"x${TO}","code":"${CODE}"}`, key),
      await create(port, body.slice(1), key),
      await rawRequest(port, 'GET', `${path}/status?code=${CODE}&to=${encodeURIComponent(TO)}`, own),
      await rawRequest(port, 'GET', `/v1/send/${CODE}/status`, own),
      await rawRequest(port, 'GET', `/${CODE}/${caller.key}`),
      await post(`${path}/verify`, own, `{"code":"${CODE}x"}`),
      await post(`${path}/verify`, own, `{"code":"${CODE}"}`),
      await post('/v1/send', [['Authorization', `Bearer ${caller.key}x`]], body),
      await post('/v1/send', [['Authorization', `Basic ${caller.key}`]], body),
      await post('/webhooks/whatsapp', [['X-Hub-Signature-256', signature]], webhook),
      await post('/webhooks/whatsapp', [], webhook),
      await rawRequest(
        port,
        'GET',
        `/webhooks/whatsapp?hub.verify_token=${encodeURIComponent(VERIFY_TOKEN)}`,
      ),
      await rawRequest(port, 'GET', '/v1/signup-settings', [
        ['Cookie', `code=${CODE}`],
        ['Referer', `http://x/${CODE}`],
      ]),
    ];
    // Errors are most likely to quote rows and parameters.
    await environment.db.sql(
      `alter table sends add constraint leaked check (recipient <> '${TO}') not valid`,
    );
    answers.push(await create(port, body, ['Idempotency-Key', `${KEY}-2`]));
    await environment.db.sql('alter table sends drop constraint leaked');
    expect(answers.at(-1)?.status).toBe(500);
    running.signal('SIGTERM');
    expect(await running.exited()).toBe(0);

    const requestLines = running.log.filter(({ msg }) => msg === 'request');
    const summary = requestLines.map((line) => [line.request_id, line['status']]);
    expect(summary).toEqual(answers.map(({ headers, status }) => [headers['x-request-id'], status]));
    for (const line of requestLines)
      expect(line).toMatchObject({
        method: expect.any(String),
        route: expect.any(String),
        duration_ms: expect.any(Number),
      });
    // A failure has one line at error level, whatever the request's own line says.
    const failures = running.log.filter(({ level }) => level === 'error');
    expect(failures).toMatchObject([
      { msg: 'a request failed', request_id: answers.at(-1)?.headers['x-request-id'] },
    ]);

    const output = running.stdout + running.stderr;
    const variables = apiVariables(environment);
    const { username, password } = new URL(environment.db.url);
    for (const secret of [
      CODE,
      TO.slice(1),
      TO.slice(3),
      KEY,
      caller.key,
      caller.key.slice(8),
      WAMID,
      WAMID.slice(6),
      signature.slice(7),
      APP_SECRET,
      VERIFY_TOKEN,
      variables['CODE_PEPPER'] as string,
      variables['SECRET_KEY'] as string,
      `${username}:${password}@`,
    ])
      expect(output.includes(secret) ? `the log holds ${secret}` : 'clean').toBe('clean');
  });
});
