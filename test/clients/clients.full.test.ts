import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { PROBLEMS } from '@onecode/domain';
import {
  closedPort,
  describeIf,
  makeCertificates,
  ProcessStack,
  STACK_START_MS_MAX,
  type Certificates,
} from '@onecode/testing';
import {
  aSend,
  FINAL_CREATIONS,
  json,
  KEY,
  OPEN_VERIFICATIONS,
  problem,
  REPEATED_CREATIONS,
  resets,
  RIGHT,
  staysSilent,
  text,
  thenDies,
  useService,
  WRONG,
  type Behaviour,
} from '@onecode/testing/breaking-service';
import { startOnecode } from '@onecode/client/testing';
import { Driver, LANGUAGES, PREPARE_MS_MAX, type Outcome } from './languages.js';

const TO = '+5511987654321';
const PYTHON = LANGUAGES.find(({ name }) => name === 'Python')!.findProgram();
const BASE_URL = 'https://codes.example.com';
const service = useService();

describe('a client', () => {
  /** The service itself, behind TLS with a certificate for localhost and 127.0.0.1. */
  let stack: ProcessStack;
  let certificates: Certificates;
  let tls: TlsServer;
  beforeAll(async () => {
    certificates = makeCertificates(mkdtempSync(join(tmpdir(), 'onecode-certificates-')));
    stack = await ProcessStack.start({ workers: 0 });
    const files = { cert: readFileSync(certificates.certificate), key: readFileSync(certificates.key) };
    tls = createTlsServer(files, (socket) => {
      const api = connect(Number(new URL(stack.apis[0]!).port), '127.0.0.1');
      for (const end of [socket, api])
        end.on('error', () => {}).on('close', () => (socket.destroy(), api.destroy()));
      socket.pipe(api).pipe(socket);
    });
    await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  }, STACK_START_MS_MAX);
  afterAll(async () => {
    tls?.close();
    await stack?.stop();
    rmSync(dirname(certificates.key), { recursive: true });
  });

  LANGUAGES.forEach((language) => {
    const program = language.findProgram();
    const reason = program === null ? ', skipped: this machine has none' : '';
    describeIf(program !== null)(`in ${language.name}${reason}`, () => {
      let driver: Driver;
      beforeAll(() => {
        driver = new Driver(language, program!, certificates.caFile);
      }, PREPARE_MS_MAX);
      afterAll(() => driver?.stop());

      /** A new client of the breaking service. */
      const use = async (
        options: { timeoutMs?: number; maxRetries?: number; deadlineMs?: number } = {},
      ): Promise<void> => {
        expect(await driver.make({ baseUrl: service.url, apiKey: KEY, ...options })).toEqual({
          outcome: 'made',
        });
      };
      const send = (given = {}): Promise<Outcome> => driver.ask('send', { to: TO, ...given });
      const status = (sendId = 'the-send'): Promise<Outcome> => driver.ask('status', { sendId });
      const verify = (code = '004217', sendId = 'the-send'): Promise<Outcome> =>
        driver.ask('verify', { sendId, code });
      const keys = () => service.requests.map(({ headers }) => headers['idempotency-key']);

      it.each([
        ['an empty key', { apiKey: '' }],
        ['a key of another kind', { apiKey: 'sk_live_0123456789' }],
        ['a key with a line break', { apiKey: `${KEY}\n` }],
        ['a key with the prefix Bearer', { apiKey: `Bearer ${KEY}` }],
        ['a base URL without a protocol', { baseUrl: 'codes' }],
        ['http', { baseUrl: 'http://codes.example.com' }],
        ['http to a name that begins with localhost', { baseUrl: 'http://localhost.example.com' }],
        ['another protocol', { baseUrl: 'ftp://localhost' }],
        ['a password', { baseUrl: `https://user:${KEY}@codes.example.com` }],
        ['a query', { baseUrl: `${BASE_URL}?key=${KEY}` }],
        ['a base URL with the path of the calls', { baseUrl: `${BASE_URL}/onecode/v1/` }],
        ['a time limit of zero', { timeoutMs: 0 }],
        ['a negative number of retries', { maxRetries: -1 }],
      ])('refuses %s without repeating it', async (_, options) => {
        const outcome = await driver.make({ baseUrl: BASE_URL, apiKey: KEY, ...options });
        expect(outcome).toMatchObject({ outcome: 'mistake' });
        expect(outcome['shown']).not.toContain(KEY);
      });

      it.each([`${BASE_URL}/`, 'http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000'])(
        'accepts %s',
        async (baseUrl) => {
          expect(await driver.make({ baseUrl, apiKey: KEY })).toEqual({ outcome: 'made' });
        },
      );

      it('accepts http only for hosts that are listed as test hosts', async () => {
        const testHosts = 'double onecode.test';
        const make = (baseUrl: string) => driver.make({ baseUrl, apiKey: KEY, testHosts });
        expect(await make('http://onecode.test:4001')).toEqual({ outcome: 'made' });
        for (const baseUrl of ['http://onecode.test.example.com', 'http://onecode', 'ftp://double'])
          expect(await make(baseUrl)).toMatchObject({ outcome: 'mistake' });
      });

      describe('a creation', () => {
        it("sends the contract's request, below the path of the base URL", async () => {
          const sent = aSend({ status: 'sent', channel: 'whatsapp', sent_at: new Date().toISOString() });
          service.script(json(202, sent));
          await driver.make({ baseUrl: `${service.url}/one/code/`, apiKey: KEY });
          const { id, verification, mode, channel } = sent;
          expect(await send({ code: '004217', locale: 'en' })).toEqual({
            outcome: 'send',
            id,
            status: 'sent',
            verification,
            mode,
            channel,
            expiresAt: Date.parse(sent.expires_at),
            createdAt: Date.parse(sent.created_at),
            sentAt: Date.parse(sent.sent_at!),
          });
          expect(service.requests).toMatchObject([
            {
              method: 'POST',
              path: '/one/code/v1/send',
              headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
            },
          ]);
          expect(JSON.parse(service.requests[0]!.body)).toEqual({ to: TO, code: '004217', locale: 'en' });
        });

        it.each(REPEATED_CREATIONS)(
          'is repeated after %s, with the same key and bytes',
          async (_, behaviour) => {
            const { id } = aSend();
            service.script(behaviour, json(202, aSend()));
            await use({ timeoutMs: 500 });
            expect(await send()).toMatchObject({ outcome: 'send', id });
            expect(service.requests).toHaveLength(2);
            expect(new Set(service.requests.map(({ body }) => body)).size).toBe(1);
            expect(new Set(keys()).size).toBe(1);
            expect(keys()[0]).toMatch(/^[0-9a-f-]{32,}$/);
          },
        );

        it.each(FINAL_CREATIONS)('is not repeated after %s', async (_, behaviour, outcome) => {
          service.script(behaviour);
          await use();
          expect(await send({ idempotencyKey: 'sign-in-1' })).toMatchObject({
            outcome,
            idempotencyKey: 'sign-in-1',
          });
          expect(service.requests).toHaveLength(1);
        });

        it('fails after maxRetries with the last problem and the key to continue with', async () => {
          service.script(
            problem(500, 'internal_error', { 'x-request-id': 'r-1' }, { errors: { to: 'Must be.' } }),
          );
          await use({ maxRetries: 1 });
          const { shown: _, ...outcome } = await send();
          expect(outcome).toEqual({
            outcome: 'problem',
            status: 500,
            code: 'internal_error',
            detail: 'A detail.',
            errors: { to: 'Must be.' },
            requestId: 'r-1',
            idempotencyKey: keys()[0],
          });
          expect(service.requests).toHaveLength(2);
        });

        it('waits for the Retry-After of a limit, and reports it when it exceeds the maximum wait', async () => {
          const times: number[] = [];
          const timed =
            (behaviour: Behaviour): Behaviour =>
            (...exchange) => {
              times.push(performance.now());
              behaviour(...exchange);
            };
          service.script(
            timed(problem(429, 'rate_limited', { 'retry-after': '1' })),
            timed(json(202, aSend())),
          );
          await use();
          expect(await send()).toMatchObject({ outcome: 'send' });
          expect(times[1]! - times[0]!).toBeGreaterThan(995);
          service.script(problem(429, 'rate_limited', { 'retry-after': '3600' }));
          expect(await send()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 3600 });
        });

        it('waits a random time more than a limit requires, so that its servers do not all retry together', async () => {
          await use();
          const beganAt = performance.now();
          for (let sends = 0; sends < 8; sends++) {
            service.script(problem(429, 'rate_limited', { 'retry-after': '0' }), json(202, aSend()));
            expect(await send()).toMatchObject({ outcome: 'send' });
          }
          expect(performance.now() - beganAt).toBeGreaterThan(200);
        });

        it('reports an unreachable service with the key to continue with', async () => {
          await driver.make({
            baseUrl: `http://127.0.0.1:${await closedPort()}`,
            apiKey: KEY,
            maxRetries: 1,
          });
          expect(await send({ idempotencyKey: 'k' })).toMatchObject({
            outcome: 'connection',
            idempotencyKey: 'k',
          });
          // No connection, so nothing was sent.
          expect((await verify())['outcome']).toBe('connection');
          await driver.make({ baseUrl: 'https://codes.invalid', apiKey: KEY });
          expect((await verify())['outcome']).toBe('connection');
        });

        it('waits neither for a limit nor for an answer beyond its deadline', async () => {
          service.script(problem(429, 'rate_limited', { 'retry-after': '15' }));
          await use();
          expect(await send()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 15 });
          expect(service.requests).toHaveLength(1);
          service.script(staysSilent);
          await use({ deadlineMs: 300 });
          expect(await send()).toMatchObject({ outcome: 'connection' });
          expect(service.requests).toHaveLength(2);
          expect((await verify()).outcome).toBe('indeterminate');
        });

        it('makes no attempt after a wait in which the process was suspended beyond its deadline', async () => {
          let suspension: Promise<void> | undefined;
          service.script((...exchange) => {
            problem(500, 'internal_error')(...exchange);
            suspension ??= suspendDriver();
          });
          // The first wait takes 250 to 500 ms.
          const suspendDriver = async (): Promise<void> => {
            await delay(100);
            driver.signal('SIGSTOP');
            await delay(900);
            driver.signal('SIGCONT');
          };
          await use({ deadlineMs: 900 });
          expect(await send()).toMatchObject({ outcome: expect.stringMatching(/^(?:problem|connection)$/) });
          await suspension;
          expect(service.requests).toHaveLength(1);
        });

        it('generates a key by default, and sends a given key of any language in UTF-8 or refuses it', async () => {
          service.script(json(202, aSend()));
          await use();
          for (const given of [{}, { idempotencyKey: '' }, { idempotencyKey: ' \t' }]) await send(given);
          expect(new Set(keys()).size).toBe(3);
          expect(keys().every((key) => /^[0-9a-f-]{32,}$/.test(String(key)))).toBe(true);
          const { outcome } = await send({ idempotencyKey: 'início-登录' });
          const [, , , key] = keys();
          if (outcome === 'send') expect(Buffer.from(String(key), 'latin1').toString()).toBe('início-登录');
          else expect([outcome, key]).toEqual(['mistake', undefined]);
        });

        it('refuses a key of two lines and sends nothing', async () => {
          await use();
          expect(await send({ idempotencyKey: 'two\nlines' })).toMatchObject({ outcome: 'mistake' });
          expect(service.requests).toHaveLength(0);
        });
      });

      describe('a verification', () => {
        it.each(OPEN_VERIFICATIONS)(
          'makes one request and fails with an indeterminate error after %s',
          async (_, behaviour) => {
            service.script(behaviour);
            await use({ timeoutMs: 500 });
            expect(await verify()).toMatchObject({ outcome: 'indeterminate', sendId: 'the-send' });
            expect(service.requests).toHaveLength(1);
          },
        );

        it.each([
          RIGHT,
          WRONG,
          { valid: false, verification: 'locked', attempts_left: 0 },
          { valid: false, verification: 'expired', attempts_left: 0 },
          { valid: false, verification: 'verified', attempts_left: 0 },
        ])('returns the result %j', async (judgement) => {
          service.script(json(200, judgement, { 'content-type': 'application/json; charset=utf-8' }));
          await use();
          expect(await verify()).toEqual({
            outcome: 'judgement',
            valid: judgement.valid,
            verification: judgement.verification,
            attemptsLeft: judgement.attempts_left,
          });
        });

        it.each([
          ['000\u00a0042', '000042'],
          ['000-042', '000042'],
          [' 0\u200b0\u20110\u20130\u22124\u20142\n', '000042'],
          ['\u0660\u0660\u0660\u0660\u0664\u0662', '000042'],
          ['\uff10\u0967\u{1d7d8}\u{1d7ff}', '0109'],
          ['', ''],
        ])('normalizes the typed code %j', async (typed, code) => {
          service.script(json(200, WRONG));
          await use();
          await verify(typed);
          expect(JSON.parse(service.requests[0]!.body)).toEqual({ code });
        });

        it('sends other codes as typed, and encodes the id as one path segment', async () => {
          service.script(json(200, WRONG));
          await use();
          await verify('0042"\\17', 'a/b ü?');
          expect(service.requests).toMatchObject([{ path: '/v1/send/a%2Fb%20%C3%BC%3F/verify' }]);
          expect(JSON.parse(service.requests[0]!.body)).toEqual({ code: '0042"\\17' });
          for (const id of ['', '.', '..']) expect((await verify('1', id)).outcome).toBe('mistake');
          expect(service.requests).toHaveLength(1);
        });

        it('reports the problem of a refusal, for every problem code and unknown ones', async () => {
          await use();
          const unknown = { of_a_later_release: { status: 403 }, of_a_later_fault: { status: 503 } };
          for (const [code, { status }] of Object.entries({ ...PROBLEMS, ...unknown })) {
            service.script(problem(status, code, { 'x-request-id': 'r-1' }));
            expect([code, await verify()]).toMatchObject([
              code,
              status < 500
                ? { outcome: 'problem', code, status, requestId: 'r-1' }
                : { outcome: 'indeterminate' },
            ]);
          }
        });

        if (language.showsDetail === true)
          it('shows the detail of a refusal, without a key that it repeats', async () => {
            await use();
            for (const repeated of [KEY, KEY.replaceAll('_', String.raw`\u005f`)]) {
              const body = `{"status":401,"code":"invalid_api_key","detail":"The key ${repeated} is revoked."}`;
              service.script(text(401, body, { 'content-type': 'application/problem+json' }));
              const { shown } = await verify();
              expect(shown).toContain('invalid_api_key (401): The key [API key] is revoked.');
              expect(shown).not.toContain(KEY);
            }
          });

        it('is not resent when a kept-alive connection is dead', async () => {
          service.script((response, request) => {
            (request.method === 'GET' ? thenDies(json(200, aSend())) : json(200, RIGHT))(response, request);
          });
          await use();
          await status();
          const { outcome } = await verify();
          const verifications = service.requests.filter(({ method }) => method === 'POST');
          expect(verifications).toHaveLength(1);
          expect(verifications[0]!.isLost).toBe(language.keepsConnections === true);
          expect(outcome).toBe(verifications[0]!.isLost ? 'indeterminate' : 'judgement');
        });
      });

      it('reads a send with one request for any outcome', async () => {
        await use();
        service.script(json(200, aSend({ status: 'read' })));
        expect(await status()).toMatchObject({ outcome: 'send', status: 'read' });
        service.script(problem(404, 'send_not_found'));
        expect(await status()).toMatchObject({ outcome: 'problem', code: 'send_not_found' });
        for (const behaviour of [
          problem(500, 'internal_error'),
          resets,
          text(200, '<html>'),
          json(202, aSend()),
        ]) {
          service.script(behaviour);
          expect(['problem', 'connection']).toContain((await status()).outcome);
        }
        // Java's HttpClient repeats reads itself.
        if (language.keepsConnections !== true) expect(service.requests).toHaveLength(6);
        expect(new Set(service.requests.map(({ path }) => path))).toEqual(
          new Set(['/v1/send/the-send/status']),
        );
      });

      it.each([
        ['a reset', resets],
        ['a problem that repeats the key', problem(401, 'invalid_api_key', {}, { title: KEY })],
        ['a problem with the key as its code', problem(401, KEY)],
        ['a page that repeats the key', text(403, `<html>${KEY}`, { server: KEY })],
      ] satisfies [string, Behaviour][])(
        'shows neither the key, the code nor the number after %s',
        async (_, behaviour) => {
          service.script(behaviour);
          await use({ maxRetries: 0 });
          for (const { shown } of [await send({ code: '004217' }), await status(), await verify()]) {
            expect(shown).toMatch(/\w/);
            expect(shown).not.toMatch(/004217|5511987654321/);
            expect(shown).not.toContain(KEY);
          }
        },
      );

      it('makes one send when its responses are lost, and accepts no code when a verification’s response is lost', async () => {
        const server = await startOnecode();
        await driver.make({ baseUrl: server.baseUrl, apiKey: server.keys.live, maxRetries: 1 });
        server.script(TO, { answer: 'lost', afterWork: true, times: 2 });
        const { outcome, idempotencyKey = '' } = await send();
        expect(outcome).toBe('connection');
        const { id = '' } = await send({ idempotencyKey });
        expect(server.sends.map((one) => one.id)).toEqual([id]);
        expect(await send({ idempotencyKey, code: '1234' })).toMatchObject({
          code: 'idempotency_key_reused',
        });
        server.script(TO, { answer: 'lost', on: 'verify', afterWork: true });
        expect(await verify(server.lastCode(TO), id)).toMatchObject({ outcome: 'indeterminate' });
        expect(await verify(server.lastCode(TO), id)).toMatchObject({
          valid: false,
          verification: 'verified',
        });
        await server.close();
      });

      it('verifies the two latest sends, newest first, with one guess on each', async () => {
        const server = await startOnecode();
        await driver.make({ baseUrl: server.baseUrl, apiKey: server.keys.live });
        const sendNew = async (): Promise<[id: string, code: string]> => [
          (await send()).id ?? '',
          server.lastCode(TO),
        ];
        const [[first, firstCode], [second, secondCode], [third, thirdCode]] = [
          await sendNew(),
          await sendNew(),
          await sendNew(),
        ];
        const sendIds = `${first} ${second} ${third}`;
        const verifyLatest = (code: string, ids = sendIds) =>
          driver.ask('verifyLatest', { sendIds: ids, code });
        expect(await verifyLatest(firstCode)).toMatchObject({ valid: false, attemptsLeft: 4 });
        expect(await verifyLatest(secondCode)).toMatchObject({ valid: true, verification: 'verified' });
        expect(await verify(firstCode, third)).toMatchObject({ valid: false, attemptsLeft: 2 });
        expect(await verify(firstCode, first)).toMatchObject({ valid: true });
        // The newest is used up, and the code of the one before begins no second sign-in.
        await verify(thirdCode, third);
        const [fourth, fourthCode] = await sendNew();
        expect(await verifyLatest(fourthCode, `${fourth} ${third}`)).toMatchObject({
          verification: 'verified',
        });
        expect(await verify(fourthCode, fourth)).toMatchObject({ valid: true });
        expect(await verifyLatest(fourthCode, '')).toMatchObject({ outcome: 'mistake' });
        await server.close();
      });

      it('sends, follows and verifies with the service over TLS, and refuses a server with another name', async () => {
        const { port } = tls.address() as AddressInfo;
        const { id: accountId } = await stack.onecode('account create --name Shop');
        const apiKey = await stack.makeKey(String(accountId), 'test');
        await driver.make({ baseUrl: `https://localhost:${port}`, apiKey });
        const { id = '', mode } = await send({ locale: 'pt-BR', idempotencyKey: `of-${language.name}` });
        expect(mode).toBe('test');
        expect(await send({ locale: 'pt-BR', idempotencyKey: `of-${language.name}` })).toMatchObject({ id });
        expect(await status(id)).toMatchObject({ id, verification: 'pending' });
        expect(await verify('111111', id)).toMatchObject({ valid: false, attemptsLeft: 4 });
        expect(await verify('000000', id)).toMatchObject({ valid: true, attemptsLeft: 0 });
        expect(await send({ to: '0770' })).toMatchObject({
          code: 'invalid_recipient',
          errors: { to: expect.any(String) },
        });
        await driver.make({ baseUrl: `https://127.0.0.2:${port}`, apiKey, maxRetries: 0 });
        expect(await status(id)).toMatchObject({ outcome: 'connection' });
      });
    });
  });
});

// The other clients have one time limit for all of a try.
describeIf(PYTHON !== null)('the Python client', () => {
  it.each([
    ['Onecode(os.environ.get("ONECODE_URL"), "ak_test_1")', 'base_url is missing.'],
    ['Onecode("https://localhost", os.environ.get("ONECODE_API_KEY"))', 'api_key is not an API key'],
    [
      'Onecode("https://localhost", "ak_test_1").send("+447700900123", idempotency_key=42)',
      'idempotency_key is not a text',
    ],
  ])('raises ValueError for %s', (call, message) => {
    const code = `import os\nfrom onecode import Onecode\ntry:\n    ${call}\nexcept ValueError as error:\n    print(error)`;
    const env = { PATH: process.env['PATH'], PYTHONPATH: 'clients/python', PYTHONIOENCODING: 'utf-8' };
    expect(execFileSync(PYTHON!, ['-B', '-c', code], { env, encoding: 'utf8' })).toContain(message);
  });

  it('divides its time limit among the addresses of a host', () => {
    const args = [
      '-B',
      join(import.meta.dirname, 'drivers/silentAddresses.py'),
      join(import.meta.dirname, '../../clients/python'),
    ];
    const [ofSilent, withRefusal] = execFileSync(PYTHON!, args, { encoding: 'utf8' }).split('\n').map(Number);
    expect(ofSilent).toBeLessThan(1.5);
    expect(withRefusal).toBeLessThan(ofSilent!);
  });
});
