import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import {
  Counter,
  createReadiness,
  createRegistry,
  serveMetrics,
  type Readiness,
  type ReadinessChecks,
} from '@onecode/runtime';
import { until } from '@onecode/testing';
import { pino } from 'pino';

describe('the metrics server', () => {
  const opened: Server[] = [];
  const created: Readiness[] = [];
  afterEach(() => {
    for (const readiness of created.splice(0)) readiness.drain();
    for (const server of opened.splice(0)) server.close().closeAllConnections();
  });

  async function serve(
    checks: ReadinessChecks = {},
    registry = createRegistry('test'),
  ): Promise<{ port: number; drain(): void }> {
    const readiness = createReadiness(pino({ level: 'silent' }), checks);
    created.push(readiness);
    const server = await serveMetrics(registry, { METRICS_HOST: '127.0.0.1', METRICS_PORT: 0 }, () =>
      readiness.failedChecks(),
    );
    opened.push(server);
    return { port: (server.address() as AddressInfo).port, drain: () => readiness.drain() };
  }

  async function get({ port }: { port: number }, path: string): Promise<{ status: number; body: string }> {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    return { status: response.status, body: await response.text() };
  }

  const passes = async (): Promise<void> => {};
  const fails = async (): Promise<void> => {
    throw new Error('leaked-password');
  };
  const hangs = (): Promise<void> => new Promise(() => {});

  it('is live while a check fails and while it drains', async () => {
    const server = await serve({ database: fails });
    expect(await get(server, '/livez')).toEqual({ status: 200, body: 'ok\n' });
    server.drain();
    expect(await get(server, '/livez')).toEqual({ status: 200, body: 'ok\n' });
  });

  it('names the failing checks with their reasons', async () => {
    const server = await serve({ database: passes, redis: fails, queue: fails });
    expect(await get(server, '/readyz')).toEqual({
      status: 503,
      body: expect.stringMatching(/^not ready: redis, queue\nredis: .+\nqueue: .+\n$/),
    });
  });

  it('is ready while its checks pass', async () => {
    let check = fails;
    const server = await serve({ database: () => check(), redis: passes });
    expect(await get(server, '/readyz')).toMatchObject({ status: 503 });
    check = passes;
    expect(await get(server, '/readyz?verbose')).toEqual({ status: 200, body: 'ok\n' });
  });

  it('runs hanging checks concurrently', async () => {
    const hanging = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`check${n}`, hangs]));
    const server = await serve({ ...hanging, queue: passes });
    const started = performance.now();
    const names = Object.keys(hanging).join(', ');
    const { status, body } = await get(server, '/readyz');
    expect([status, body.split('\n')[0]]).toEqual([503, `not ready: ${names}`]);
    // Sequential checks would take twenty seconds.
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it('reports a check that throws synchronously as failing', async () => {
    const server = await serve({
      database: () => {
        throw new Error('at once');
      },
    });
    expect(await get(server, '/readyz')).toEqual({
      status: 503,
      body: 'not ready: database\ndatabase: at once\n',
    });
  });

  it('is not ready while it stops, and does not run its checks', async () => {
    const server = await serve({ database: hangs });
    server.drain();
    expect(await get(server, '/readyz')).toEqual({
      status: 503,
      body: 'not ready: stopping\nstopping: the process is shutting down\n',
    });
  });

  it('serves the metrics of the registry with the name of the process', async () => {
    const registry = createRegistry('worker');
    new Counter({ name: 'sends_total', help: 'sends', registers: [registry] }).inc(3);
    const { status, body } = await get(await serve({}, registry), '/metrics');
    expect(status).toBe(200);
    expect(body).toContain('sends_total{process="worker"} 3');
    expect(body).toMatch(/^process_resident_memory_bytes\{process="worker"\} \d+/m);
    // Sampled lags would include the interval of their samples.
    expect(body.match(/^nodejs_eventloop_lag_\w+/gm)).toEqual(['nodejs_eventloop_lag_seconds']);
  });

  it('returns 404 for any other path', async () => {
    expect(await get(await serve(), '/debug')).toEqual({ status: 404, body: 'not found\n' });
  });
});

let readiness: Readiness | undefined;
afterEach(() => readiness?.drain());

describe('createReadiness', () => {
  it('logs one line for the start of an outage, with its confirmed reason, and one for its end', async () => {
    const lines: { msg: string; service: string; reason?: string }[] = [];
    const log = pino(
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          lines.push(JSON.parse(chunk.toString()));
          done();
        },
      }),
    );
    let checks = 0;
    const refuse = (fault: string) => () => Promise.reject(new Error(fault));
    const answers: (() => Promise<void>)[] = [
      () => Promise.resolve(),
      // A single failure is not logged, because the connection may be replaced at that moment.
      () => Promise.reject(new Error('closed')),
      () => Promise.resolve(),
      () => Promise.reject(new Error('closed')),
      () => Promise.reject(new Error('connect ECONNREFUSED redis://:secret@127.0.0.1:1')),
      refuse('REDIS_URL names a replica'),
      refuse('REDIS_URL names no password'),
      () => Promise.resolve(),
      () => Promise.reject(new Error('closed')),
      refuse('REDIS_URL names a replica'),
      () => Promise.reject(new Error('closed')),
      () => Promise.resolve(),
      () => Promise.resolve(),
    ];
    const services = {
      redis: () => answers[Math.min(checks++, answers.length - 1)]!(),
      database: () => Promise.resolve(),
    };
    readiness = createReadiness(log, services, {}, 10);
    await until('all answers', () => checks >= answers.length);
    expect(lines.map(({ msg, service, reason }) => [msg, service, reason])).toEqual([
      ['service unavailable', 'redis', 'connect ECONNREFUSED redis://[removed]@127.0.0.1:1'],
      ['service available', 'redis', undefined],
      ['service unavailable', 'redis', 'REDIS_URL names a replica'],
      ['service available', 'redis', undefined],
    ]);
  });
});
