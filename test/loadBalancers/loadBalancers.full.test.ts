import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as encryptedRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  buildCaller,
  describeIf,
  makeCertificates,
  STACK_START_MS_MAX,
  startLocalServer,
  startProcess,
  startTcpProxy,
  until,
  untilReady,
  useTestEnvironment,
  type Certificates,
  type LocalServer,
  type StartedProcess,
} from '@onecode/testing';
import { Processes } from '../../scripts/processes/processes.mjs';
import { PROCESS_VARIABLES } from '../processVariables.js';
import { CADDY, NGINX, startLoadBalancer } from './loadBalancerPrograms.js';

/** The contract's limit for a body, in bytes. */
const BODY_BYTES_MAX = 65_536;
const CONSOLE = 'console.example.com';
const FORGED = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
const KINDS = [NGINX, CADDY].map((kind) => ({ kind, program: kind.find() }));

interface Answer {
  status: number;
  type: string | undefined;
  body: string;
}

describe.each(KINDS)('the sample of $kind.name', ({ kind, program }) => {
  const NONE = program === null ? ' (skipped: this machine cannot install its package)' : '';
  describeIf(program !== null)(`in front of two APIs${NONE}`, () => {
    const processes = Processes.throwaway();
    const environment = useTestEnvironment();
    const apis: { process: StartedProcess; port: number }[] = [];
    let folder: string;
    let certificates: Certificates;
    let key: string;

    async function startApi(port = 0): Promise<{ process: StartedProcess; port: number }> {
      const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX } = environment.variables;
      const started = startProcess('apps/api/dist/main.js', {
        ...PROCESS_VARIABLES,
        DATABASE_URL,
        REDIS_URL,
        QUEUE_PREFIX,
        PORT: String(port),
        METRICS_PORT: '0',
        SHUTDOWN_DELAY_MS: '2500',
      });
      const { address } = await untilReady(started);
      return { process: started, port: (address as AddressInfo).port };
    }

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'onecode-load-balancer-'));
      certificates = makeCertificates(folder, [CONSOLE]);
      ({ key } = await buildCaller(environment.db.database, 'test', { ratePerMinute: 100_000 }));
      apis.push(...(await Promise.all([startApi(), startApi()])));
    }, STACK_START_MS_MAX);
    afterAll(async () => {
      await processes.stop();
      await Promise.all(apis.map(({ process }) => process.stop()));
      rmSync(folder, { recursive: true });
    }, STACK_START_MS_MAX);

    const start = (upstreams: readonly number[]): Promise<number> =>
      startLoadBalancer(kind, program!, { processes, upstreams, certificates });

    /** Makes a request with a new connection to a load balancer. */
    function ask(
      port: number,
      method: string,
      path: string,
      { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string | Buffer } = {},
    ): Promise<Answer> {
      return new Promise((resolve, reject) => {
        const read = (response: IncomingMessage): void => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              type: response.headers['content-type'],
              body: text,
            }),
          );
        };
        const options = {
          host: 'localhost',
          servername: headers['host']?.split(':')[0] ?? 'localhost',
          port,
          method,
          path,
          headers: { authorization: `Bearer ${key}`, 'content-length': Buffer.byteLength(body), ...headers },
        };
        const sent = encryptedRequest(
          { ...options, ca: readFileSync(certificates.caFile), agent: false },
          read,
        );
        sent.on('error', reject).end(body);
      });
    }
    const create = (port: number): Promise<Answer> =>
      ask(port, 'POST', '/v1/send', { body: '{"to":"+5511987654321"}' });
    async function createdId(port: number): Promise<string> {
      const { status, body } = await create(port);
      expect([status, body]).toEqual([202, expect.any(String)]);
      return (JSON.parse(body) as { id: string }).id;
    }
    const postUnsigned = (port: number, body: string | Buffer): Promise<Answer> =>
      ask(port, 'POST', '/webhooks/whatsapp', {
        headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
        body,
      });
    const guess = (port: number, id: string): Promise<Answer> =>
      ask(port, 'POST', `/v1/send/${id}/verify`, { body: '{"code":"999999"}' });

    it('passes the largest body of the contract, and lets the API refuse a larger one', async () => {
      const port = await start(apis.map((api) => api.port));
      const body = '{"to":"+5511987654321"}'.padEnd(BODY_BYTES_MAX);
      expect((await ask(port, 'POST', '/v1/send', { body })).status).toBe(202);
      for (const larger of [body.padEnd(BODY_BYTES_MAX + 1), body.padEnd(3 * 1024 * 1024)]) {
        const { status, type, body: problem } = await ask(port, 'POST', '/v1/send', { body: larger });
        expect([status, type]).toEqual([422, 'application/problem+json']);
        expect(JSON.parse(problem)).toMatchObject({ code: 'invalid_json' });
      }
    });

    it('refuses a body over 4 MiB', async () => {
      const port = await start(apis.map((api) => api.port));
      const body = Buffer.alloc(5 * 1024 * 1024, 32);
      // nginx closes the connection before it has read the whole body. Behind Caddy, the API refuses it by its length.
      const status = await ask(port, 'POST', '/v1/send', { body }).then(
        (answer) => answer.status,
        (error: NodeJS.ErrnoException) => error.code,
      );
      expect([413, 422, 'EPIPE', 'ECONNRESET']).toContain(status);
    });

    it('passes a webhook of 3 MiB', async () => {
      const port = await start(apis.map((api) => api.port));
      const { status, body } = await postUnsigned(port, Buffer.alloc(3 * 1024 * 1024, 32));
      expect([status, JSON.parse(body)]).toEqual([
        401,
        expect.objectContaining({ code: 'invalid_signature' }),
      ]);
    });

    it('answers every request after an API is killed, and uses that API again when it runs again', async () => {
      const port = await start(apis.map((api) => api.port));
      // Both APIs have open connections.
      for (let n = 0; n < 10; n += 1) await createdId(port);
      for (const index of [0, 1]) {
        const killed = apis[index]!;
        const id = await createdId(port);
        killed.process.signal('SIGKILL');
        await killed.process.exited;
        const read = async (): Promise<number> => (await ask(port, 'GET', `/v1/send/${id}/status`)).status;
        if (!kind.passesRefusedPosts(program!)) expect([await read(), await read()]).toEqual([200, 200]);
        for (let n = 0; n < 10; n += 1) {
          await createdId(port);
          expect(await read()).toBe(200);
          expect((await postUnsigned(port, '{}')).status).toBe(401);
          expect((await guess(port, await createdId(port))).status).toBe(200);
        }
        apis[index] = await startApi(killed.port);
        // With the other one killed next, only an API that gets requests again can answer.
        await until('an API that gets requests again', async () => {
          const before = await requestsOf(apis[index]!);
          await Promise.all(Array.from({ length: 4 }, () => create(port)));
          return (await requestsOf(apis[index]!)) > before;
        });
      }
    }, 60_000);

    it('answers every request while an API is replaced', async () => {
      const port = await start(apis.map((api) => api.port));
      let isReplaced = false;
      const asking = (async () => {
        let count = 0;
        for (; !isReplaced; count += 1) await createdId(port);
        return count;
      })();
      const { process, port: apiPort } = apis[0]!;
      expect((await process.stop()).code).toBe(0);
      apis[0] = await startApi(apiPort);
      isReplaced = true;
      expect(await asking).toBeGreaterThan(10);
    }, 60_000);

    it('does not repeat a verification after a lost response', async () => {
      const proxies = await Promise.all(apis.map((api) => startTcpProxy(`http://127.0.0.1:${api.port}`)));
      const port = await start(proxies.map(({ url }) => Number(new URL(url).port)));
      const id = await createdId(port);
      for (const proxy of proxies) proxy.cutReplies();
      expect((await guess(port, id)).status).toBe(502);
      const [send] = await environment.db.sql<{ wrong_guesses: number }>(
        'select cardinality(wrong_guess_times) as wrong_guesses from sends where id = $1',
        [id],
      );
      expect(send).toEqual({ wrong_guesses: 1 });
      await Promise.all(proxies.map((proxy) => proxy.close()));
    });

    it('repeats a read after a lost response', async () => {
      const upstreams = await startUpstreams(1);
      const port = await start(upstreams.ports);
      expect((await ask(port, 'GET', '/v1/send/1/status')).status).toBe(200);
      expect(upstreams.requests).toHaveLength(2);
      await upstreams.close();
    });

    it('replaces forwarded headers that a client chose', async () => {
      const upstreams = await startUpstreams(0);
      const port = await start(upstreams.ports);
      for (const host of ['localhost', CONSOLE]) {
        const hostAndPort = `${host}:${port}`;
        await ask(port, 'POST', '/', { headers: { ...FORGED, host: hostAndPort } });
        expect(upstreams.requests.pop()).toMatchObject({
          host: kind === NGINX ? host : hostAndPort,
          'x-forwarded-for': '127.0.0.1',
          'x-forwarded-proto': 'https',
          authorization: `Bearer ${key}`,
        });
      }
      await upstreams.close();
    });
  });
});

/** Returns how many requests an API has answered. */
async function requestsOf({ process }: { process: StartedProcess }): Promise<number> {
  const ready = process.log().find(({ msg }) => msg === 'ready');
  const text = await new Promise<string>((resolve, reject) => {
    request(`http://127.0.0.1:${String(ready?.['metrics_port'])}/metrics`, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => resolve(body));
    })
      .on('error', reject)
      .end();
  });
  return [...text.matchAll(/^onecode_http_request_seconds_count\S* (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

/** Starts two servers in place of APIs. They reset the connections of the first requests, and answer the others with 200. */
async function startUpstreams(
  resets: number,
): Promise<{ ports: number[]; requests: IncomingHttpHeaders[]; close(): Promise<void> }> {
  const requests: IncomingHttpHeaders[] = [];
  const servers: LocalServer[] = [];
  for (let n = 0; n < 2; n += 1)
    servers.push(
      await startLocalServer((incoming, response) => {
        if (incoming.url === '/readyz') return void response.end('ok\n');
        requests.push(incoming.headers);
        if (requests.length <= resets) incoming.socket.resetAndDestroy();
        else response.end();
      }),
    );
  return {
    ports: servers.map(({ port }) => port),
    requests,
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}
