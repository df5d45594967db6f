import { spawn, type ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { createLog } from '@onecode/runtime';
import { deleteAccount, tripBreaker } from '@onecode/store/accounts';
import type { Database } from '@onecode/store/client';
import {
  endEntry,
  noteMailSender,
  setBalanceAlert,
  takeDueEvents,
  listEventDeliveries,
  removeEventWebhook,
  repeatEvent,
  rotateEventSecret,
  setEventWebhook,
  testEventWebhook,
} from '@onecode/store/mails';
import { reencryptTokens } from '@onecode/store/senders';
import {
  buildAccount,
  closedPort,
  startConnectProxy,
  TEST_ACTOR,
  TEST_SECRET_KEY,
  until,
} from '@onecode/testing';
import { createEventRun } from '../src/webhooks/postEvents.js';
import { isPublicAddress, openPoster } from '../src/webhooks/poster.js';
import { WorkerEnvironment } from './workerEnvironment.js';
import { PROCESSES_MS_MAX, startWorkerProcess } from './workerProcess.js';

/** A request that a receiver got. */
interface Received {
  headers: Record<string, string>;
  body: string;
}

/** A customer's receiver, as a process. It answers its first requests with the given statuses (0: no response), and later ones with 200. */
const RECEIVER = `
  const [port, ...answers] = process.argv.slice(1).map(Number);
  require('node:http').createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk)).on('end', () => {
      const status = answers.shift() ?? 200;
      console.log(JSON.stringify({ headers: request.headers, body }));
      if (status !== 0) response.writeHead(status, { location: '/elsewhere' }).end('x'.repeat(status === 200 ? 1e6 : 0));
    });
  }).listen(port, '127.0.0.1', () => console.log('{}'));`;

let environment: WorkerEnvironment;
let database: Database;
/** The requests to all receivers. */
const received: Received[] = [];
const receivers: ChildProcess[] = [];

async function startReceiver(port: number, ...answers: number[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', RECEIVER, String(port), ...answers.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  receivers.push(child);
  const lines = createInterface({ input: child.stdout });
  await once(lines, 'line');
  lines.on('line', (line) => received.push(JSON.parse(line) as Received));
  return child;
}

beforeAll(async () => {
  environment = await WorkerEnvironment.open();
  ({ database } = environment.db);
});
afterAll(() => environment.close());
beforeEach(async () => {
  received.length = 0;
  await sql('delete from event_webhooks');
});
afterEach(() => receivers.splice(0).forEach((child) => child.kill('SIGKILL')));

const sql: WorkerEnvironment['db']['sql'] = (text, values) => environment.db.sql(text, values);
/** Ends the wait for the next try, and the leases of dead workers. */
const letTimePass = (): Promise<unknown> =>
  sql(`update outbox set due_at = clock_timestamp() - interval '1 second' where due_at is not null`);
const idsOf = (events: readonly Received[]): string[] => events.map(({ headers }) => headers['webhook-id']!);

/** Creates an account with a webhook. @returns its id and the webhook's secret */
async function subscriber(url: string): Promise<{ accountId: string; secret: string }> {
  const accountId = await buildAccount(database, { freeQuota: 0, credits: 50 });
  const set = await setEventWebhook(database, TEST_ACTOR, TEST_SECRET_KEY, accountId, url);
  if (typeof set?.secret !== 'string') throw new Error('no webhook was made');
  return { accountId, secret: set.secret };
}

/** Returns a run that posts due events in this process. */
const createRun = (addresses: 'public' | 'any' = 'any') =>
  createEventRun({
    database,
    secretKey: TEST_SECRET_KEY,
    log: createLog('worker', 'silent'),
    poster: openPoster(addresses),
  });

async function post(addresses?: 'public' | 'any'): Promise<void> {
  const { run, ended } = createRun(addresses);
  await run();
  await ended();
}

const deliveriesOf = (accountId: string) => listEventDeliveries(database, accountId);

describe('events', () => {
  it(
    'all arrive although the receiver fails twice and is killed once, and a worker is killed while posting',
    async () => {
      // No worker sends mail.
      await noteMailSender(database, null);
      const port = await closedPort();
      let receiver = await startReceiver(port, 503, 302, 200, 0);
      const subscribers = [];
      while (subscribers.length < 8) {
        const one = await subscriber(`http://127.0.0.1:${port}/hook?token=planted`);
        await setBalanceAlert(database, TEST_ACTOR, one.accountId, 100);
        subscribers.push(one);
      }
      const env = { EVENT_ADDRESSES: 'any' };
      const killed = await startWorkerProcess(environment, env);
      const sent = async (): Promise<number> =>
        (await sql(`select from outbox where account_id is not null and outcome = 'sent'`)).length;
      // The fourth gets no response, and the worker that waits for it is killed.
      await until('an event that is being posted', () => received.length >= 4, PROCESSES_MS_MAX);
      killed.signal('SIGKILL');
      await killed.exited;
      receiver.kill('SIGKILL');
      await once(receiver, 'exit');
      const worker = await startWorkerProcess(environment, env);
      await letTimePass();
      const refused = (): Promise<object[]> => sql(`select from outbox where error = 'ECONNREFUSED'`);
      await until('a refused event', async () => (await refused()).length > 0, PROCESSES_MS_MAX);
      receiver = await startReceiver(port);
      await until(
        'events of all',
        async () => {
          await letTimePass();
          return (await sent()) === 8;
        },
        PROCESSES_MS_MAX,
      );
      for (const { accountId, secret } of subscribers) {
        const own = received.filter(({ body }) => body.includes(accountId));
        expect(new Set(idsOf(own)).size).toBe(1);
        expect(new Set(own.map(({ body }) => body)).size).toBe(1);
        for (const { body, headers } of own)
          expect(new Webhook(secret).verify(body, headers)).toEqual({
            type: 'balance.low',
            timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
            data: { account_id: accountId, units_left: 50, below: 100, live_sends_last_day: 0 },
          });
        expect(await deliveriesOf(accountId)).toMatchObject([{ state: 'sent', answer: 200, error: null }]);
      }
      expect(received.length).toBeGreaterThan(10);
      expect(killed.output() + worker.output()).not.toMatch(/whsec|planted|units_left/);
      await worker.stop();
    },
    2 * PROCESSES_MS_MAX,
  );

  it('wait longer after each try, are given up after a day, and can be repeated under the same id', async () => {
    const port = await closedPort();
    const { accountId } = await subscriber(`http://127.0.0.1:${port}/`);
    expect(await testEventWebhook(database, accountId)).toBe(true);
    // An event is already waiting.
    expect(await testEventWebhook(database, accountId)).toBe(false);
    const waits: number[] = [];
    for (let tries = 1; tries <= 4; tries++) {
      await letTimePass();
      await post();
      const [row] = await sql<{ wait: number }>(
        'select extract(epoch from due_at - clock_timestamp())::float8 as wait from outbox where account_id = $1',
        [accountId],
      );
      waits.push(Math.floor(Math.log2(row!.wait + 0.5)));
      expect(await deliveriesOf(accountId)).toMatchObject([
        { tries, state: 'waiting', error: 'ECONNREFUSED', answer: null },
      ]);
    }
    expect(waits).toEqual([1, 2, 3, 4]);
    await sql(
      `update outbox set gives_up_at = clock_timestamp() - interval '1 second' where account_id = $1`,
      [accountId],
    );
    await letTimePass();
    await post();
    const [given] = await deliveriesOf(accountId);
    expect(given).toMatchObject({ state: 'given_up', type: 'webhook.test' });
    await startReceiver(port, 500);
    for (const state of ['waiting', 'sent']) {
      expect(await repeatEvent(database, accountId, given!.id)).toBe(true);
      await post();
      // Its retries start again with short waits.
      expect(await deliveriesOf(accountId)).toMatchObject([{ id: given!.id, state, tries: 1 }]);
    }
    expect(idsOf(received)).toEqual([given!.id, given!.id]);
    // Events of other accounts and deleted events cannot be repeated.
    const other = await subscriber(`http://127.0.0.1:${port}/`);
    expect(await repeatEvent(database, other.accountId, given!.id)).toBe(false);
    expect(await removeEventWebhook(database, TEST_ACTOR, accountId)).toBe(true);
    expect(await deliveriesOf(accountId)).toEqual([]);
  });

  it('are not changed by a worker with an expired lease after another worker has claimed them', async () => {
    const { accountId } = await subscriber('https://127.0.0.1/');
    await testEventWebhook(database, accountId);
    const [late] = await takeDueEvents(database, 1, []);
    await letTimePass();
    const [other] = await takeDueEvents(database, 1, []);
    await endEntry(database, late!, 'sent', 200);
    expect(await deliveriesOf(accountId)).toMatchObject([{ state: 'waiting', tries: 2, answer: null }]);
    await endEntry(database, other!, 'sent', 200);
    expect(await deliveriesOf(accountId)).toMatchObject([{ state: 'sent', tries: 2, answer: 200 }]);
  });

  it('are signed only with the new secret after its replacement, and reencryptTokens reencrypts that secret', async () => {
    const port = await closedPort();
    await startReceiver(port);
    const { accountId, secret } = await subscriber(`http://127.0.0.1:${port}/`);
    const rotated = await rotateEventSecret(database, TEST_ACTOR, TEST_SECRET_KEY, accountId);
    await testEventWebhook(database, accountId);
    await post();
    const [{ body, headers }] = received as [Received];
    expect(() => new Webhook(secret).verify(body, headers)).toThrow();
    expect(() => new Webhook(rotated!).verify(body, headers)).not.toThrow();
    const keys = new Map([...TEST_SECRET_KEY.keys, [2, Buffer.alloc(32, 7)]]);
    await reencryptTokens(database, TEST_ACTOR, { current: 2, keys });
    expect(await sql('select get_byte(encrypted_secret, 0) as version from event_webhooks')).toEqual([
      { version: 2 },
    ]);
    await sql('delete from event_webhooks');
  });

  it('report once that a breaker trips, and are deleted with their account', async () => {
    const port = await closedPort();
    await startReceiver(port);
    const { accountId } = await subscriber(`http://127.0.0.1:${port}/`);
    await sql('update accounts set breaker_unverified_percent = 50, breaker_min_sends = 10 where id = $1', [
      accountId,
    ]);
    const rule = { unverifiedPercent: 50, minSends: 10 };
    const counts = { country: 'BR', sends: 20, unverified: 19 };
    const evidence = { accountId, ...counts, rule };
    await Promise.all([1, 2, 3].map(() => tripBreaker(database, evidence)));
    await until('the event', async () => {
      await post();
      return received.length === 1;
    });
    const events = received.map(({ body }) => JSON.parse(body) as object);
    expect(events).toMatchObject([{ type: 'breaker.tripped', data: { account_id: accountId, ...counts } }]);
    await deleteAccount(database, TEST_ACTOR, accountId, 'left');
    expect(await sql('select from outbox where account_id = $1', [accountId])).toEqual([]);
  });

  it('of an account with a hanging receiver do not delay other accounts', async () => {
    const port = await closedPort();
    await startReceiver(port, 0);
    const slow = await subscriber(`http://127.0.0.1:${port}/`);
    const quick = await subscriber(`http://127.0.0.1:${port}/`);
    await testEventWebhook(database, slow.accountId);
    const { run, ended } = createRun();
    await run();
    await until('a receiver that waits', () => received.length === 1);
    await testEventWebhook(database, quick.accountId);
    await run();
    await until('the other event', async () => (await deliveriesOf(quick.accountId))[0]?.state === 'sent');
    expect(await deliveriesOf(slow.accountId)).toMatchObject([{ state: 'waiting', tries: 1, error: null }]);
    receivers.splice(0).forEach((child) => child.kill('SIGKILL'));
    await ended();
  });
});

describe('a webhook of a private address', () => {
  it('is recognized by its address in IPv4 and IPv6, in every notation', () => {
    const privateAddresses = [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '100.64.0.1',
      '0.0.0.0',
      '::1',
      'fe80::1',
    ];
    const inAnotherForm = [
      '::ffff:127.0.0.1',
      '::ffff:a9fe:a9fe',
      '64:ff9b::7f00:1',
      '64:ff9b::a00:5',
      '64:ff9b::a9fe:a9fe',
      '64:ff9b:1::101:101',
      '2002:7f00:1::',
      '::7f00:1',
    ];
    const reserved = ['255.255.255.255', '240.0.0.1', '192.0.2.1', 'ff02::1', 'fec0::1', '2001:db8::1'];
    expect([...privateAddresses, ...inAnotherForm, ...reserved].filter(isPublicAddress)).toEqual([]);
    const publicAddresses = ['1.1.1.1', '2606:4700:4700::1111', '64:ff9b::101:101'];
    expect(publicAddresses.filter(isPublicAddress)).toEqual(publicAddresses);
  });

  it('is not called by a name that resolves to it, and a silent name server does not delay other look-ups', async () => {
    const asked = createSocket('udp4').on('message', (question, from) => {
      if (question.includes('silent')) return;
      const isOfVersion4 = question.readUInt16BE(question.length - 4) === 1;
      const answer = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 10, 0, 0, 5]);
      const message = Buffer.concat([question, ...(isOfVersion4 ? [answer] : [])]);
      message.writeUInt16BE(0x8180, 2);
      message.writeUInt16BE(isOfVersion4 ? 1 : 0, 6);
      asked.send(message, from.port, from.address);
    });
    asked.bind(0, '127.0.0.1');
    await once(asked, 'listening');
    const poster = openPoster('public', [`127.0.0.1:${asked.address().port}`]);
    const post = (host: string) => poster.post(`https://${host}/`, {}, '{}');
    const silent = Array.from({ length: 20 }, (_, nth) => post(`silent${nth}.example`));
    const ends: string[] = [];
    void Promise.all(silent).then(() => ends.push('silent'));
    expect(await post('inside.example')).toEqual({ error: 'private_address' });
    await lookup('localhost');
    ends.push('others');
    expect(new Set((await Promise.all(silent)).map((end) => 'error' in end))).toEqual(new Set([true]));
    expect(ends[0]).toBe('others');
    await poster.close();
    asked.close();
  });

  it('is not called in any notation, nor by a name of this machine', async () => {
    let connections = 0;
    const server = createServer().on('connection', (socket) => {
      connections += 1;
      socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const poster = openPoster('public');
    const hosts = [
      '127.0.0.1',
      'localhost',
      'LOCALHOST',
      '2130706433',
      '0x7f.1',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ];
    for (const host of hosts)
      for (const scheme of ['https', 'http']) {
        const url = `${scheme}://${host}:${port}/`;
        const posted = await poster.post(url, {}, '{}');
        expect([url, posted]).toEqual([url, { error: 'private_address' }]);
      }
    expect(connections).toBe(0);
    await poster.close();
    const { accountId } = await subscriber(`https://localhost:${port}/`);
    await testEventWebhook(database, accountId);
    await post('public');
    expect(await deliveriesOf(accountId)).toMatchObject([{ state: 'waiting', error: 'private_address' }]);
    server.close();
  });

  it('is not called through a proxy, which would resolve the name again', async () => {
    const proxy = await startConnectProxy(() => null);
    const before = process.env['HTTPS_PROXY'];
    process.env['HTTPS_PROXY'] = proxy.url;
    try {
      for (const [addresses, error] of [
        ['public', 'private_address'],
        ['any', 'ECONNREFUSED'],
      ] as const) {
        const poster = openPoster(addresses);
        const url = `https://127.0.0.1:${await closedPort()}/`;
        expect(await poster.post(url, {}, '{}')).toEqual({ error });
        await poster.close();
      }
    } finally {
      if (before === undefined) delete process.env['HTTPS_PROXY'];
      else process.env['HTTPS_PROXY'] = before;
    }
    expect(proxy.requests).toEqual([]);
    await proxy.close();
  });
});
