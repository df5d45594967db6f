import { doesNotMatch, equal, match } from 'node:assert/strict';
import { describeIf, until } from '@onecode/testing';
import {
  aSend,
  closes,
  cutsOff,
  dripsBody,
  dripsHeaders,
  json,
  KEY,
  problem,
  resets,
  staysSilent,
  text,
  thenDies,
  useService,
  type Behaviour,
} from '@onecode/testing/breaking-service';
import { isInstalled, startExample, startOnce, type Example, type RunningExample } from './exampleProcess.js';
import { PREPARE_MS_MAX, prepareExample } from './preparedExample.js';

const TO = '+5511987654321';
const ID = aSend().id;
const VALID = { valid: true, verification: 'verified', attempts_left: 0 };
/** What a proxy answers in the service's place, and nobody may see. */
const PROXY_PAGE = '<html><h1>proxy-made page</h1></html>';
const proxyPage = (status: number): Behaviour => text(status, PROXY_PAGE, { 'content-type': 'text/html' });
/** Longer than any answer of the contract. */
const tooLong = (status: number, body: object): Behaviour =>
  text(status, JSON.stringify(body) + ' '.repeat(512 * 1024), { 'content-type': 'application/json' });
const FORM_BYTES_MAX = 4096;

/** A browser without a screen: it keeps the cookie and sends the forms of the page. */
class Visitor {
  cookie = '';
  /** The attributes of the cookie that was set last. */
  attributes = '';
  constructor(private readonly url: string) {}

  async page(): Promise<string> {
    const response = await this.#request('/');
    const page = await response.text();
    doesNotMatch(page, /proxy-made|warning<|<b>/i);
    return page;
  }

  async csrf(): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec(await this.page())![1]!;
  }

  async submit(action: string, fields: Record<string, string> = {}): Promise<string> {
    const csrf = await this.csrf();
    const response = await this.#request(action, new URLSearchParams({ csrf, ...fields }));
    equal(response.status, 303);
    return this.page();
  }

  async #request(path: string, body?: URLSearchParams): Promise<Response> {
    const init: RequestInit = { redirect: 'manual', headers: { cookie: this.cookie } };
    const response = await fetch(this.url + path, body ? { ...init, method: 'POST', body } : init);
    const cookie = response.headers.get('set-cookie');
    if (cookie !== null) {
      match(cookie, /httponly/i);
      match(cookie, /samesite=lax/i);
      this.cookie = cookie.split(';')[0]!;
      this.attributes = cookie.slice(this.cookie.length);
    }
    return response;
  }
}

/** What each example keeps, whatever the service or the network does. */
export function describeRules(example: Example): void {
  const isHere = isInstalled(example.needs);
  const reason = isHere ? '' : `, skipped: there is no ${example.needs}`;
  describeIf(isHere)(`the ${example.name} example${reason}`, () => {
    const service = useService();
    let folder: string;
    let running: RunningExample;
    /** Behind https, with little patience for the service and a long pause before a new code. */
    let strict: RunningExample;
    let visitor: Visitor;
    beforeAll(async () => {
      folder = await prepareExample(example);
      service.script(json(200, aSend()));
      const env = { ONECODE_URL: service.url, ONECODE_API_KEY: KEY };
      running = await startExample(example, folder, env);
      strict = await startExample(example, folder, {
        ...env,
        HTTPS: '1',
        ONECODE_TIMEOUT_MS: '500',
        RESEND_AFTER_SECONDS: '600',
      });
    }, PREPARE_MS_MAX);
    afterAll(() => {
      running?.stop();
      strict?.stop();
    });
    beforeEach(() => {
      visitor = new Visitor(running.url);
    });

    const requestsTo = (path: string) => service.requests.filter((request) => request.path === path);
    const isCreated: Behaviour = (response, request) =>
      json(request.method === 'POST' ? 202 : 200, aSend())(response, request);
    const creations = () => requestsTo('/v1/send');
    const withCode = async () => {
      service.script(isCreated);
      expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
      service.requests.length = 0;
    };
    /** Answers the verification, and readings with a send. */
    const judges =
      (behaviour: Behaviour): Behaviour =>
      (response, request) =>
        (request.method === 'POST' ? behaviour : json(200, aSend()))(response, request);

    it('repeats a creation with the same key and bytes when answers are lost, and on 500, 503 and a short 429', async () => {
      for (const failures of [
        [resets, cutsOff(202, aSend()), problem(503, 'unavailable')],
        [closes, problem(500, 'internal_error'), problem(429, 'rate_limited', { 'retry-after': '1' })],
      ]) {
        service.requests.length = 0;
        service.script(...failures, isCreated);
        expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
        const tries = requestsTo('/v1/send');
        expect(tries).toHaveLength(4);
        expect(new Set(tries.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
        expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
        await visitor.submit('/restart');
      }
    });

    it('repeats a creation with the same key and bytes when somebody else answers in the place of the service', async () => {
      for (const failures of [
        [proxyPage(502), text(503, ''), tooLong(202, aSend())],
        [json(202, { ok: true }), json(202, [aSend()]), text(202, '')],
        [proxyPage(504), json(202, { id: 5 }), json(500, { message: 'upstream' })],
      ]) {
        service.requests.length = 0;
        service.script(...failures, isCreated);
        expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
        const tries = creations();
        expect(tries).toHaveLength(4);
        expect(new Set(tries.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
        expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
        await visitor.submit('/restart');
      }
    });

    it.each([
      ['a page with 403', proxyPage(403)],
      ['a page with 422', proxyPage(422)],
      ['422 as other JSON', json(422, { code: 'invalid_recipient' })],
      ['a page with 200', proxyPage(200)],
    ])('goes on with the same key after %s, which is not of the service', async (_, behaviour) => {
      service.script(resets, behaviour);
      expect(await visitor.submit('/code', { to: TO })).toContain('We could not send a code. Try again.');
      service.script(isCreated);
      expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
      expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    });

    it.each([
      ['429 for more than 30 seconds', problem(429, 'rate_limited', { 'retry-after': '31' })],
      ['422', problem(422, 'invalid_request')],
      ['a redirect', text(307, '', { location: '/elsewhere' })],
    ])('does not repeat a creation after %s', async (_, behaviour) => {
      service.script(behaviour);
      expect(await visitor.submit('/code', { to: TO })).toContain('role="status"');
      expect(service.requests).toHaveLength(1);
    });

    it('goes on with the same key after a limit that met a lost answer', async () => {
      service.requests.length = 0;
      service.script(resets, problem(429, 'rate_limited', { 'retry-after': '31' }));
      expect(await visitor.submit('/code', { to: TO })).toContain('Too many codes were asked for.');
      service.script(isCreated);
      expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
      const keys = requestsTo('/v1/send').map(({ headers }) => headers['idempotency-key']);
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(1);
    });

    it('tells people that a code could not be delivered', async () => {
      await withCode();
      service.script((response, request) => {
        const isStatus = request.method === 'GET' && request.url === `/v1/send/${ID}/status`;
        (isStatus ? json(200, aSend({ status: 'failed' })) : problem(404, 'not_found'))(response, request);
      });
      expect(await visitor.page()).toContain('The code could not be delivered.');
    });

    it('sends a new code with a new key', async () => {
      service.script(isCreated);
      await visitor.submit('/code', { to: TO });
      await visitor.submit('/resend');
      const keys = requestsTo('/v1/send').map(({ headers }) => headers['idempotency-key']);
      expect(new Set(keys).size).toBe(2);
    });

    it.each([
      ['a reset', resets],
      ['a closed connection', closes],
      ['half an answer', cutsOff(200, VALID)],
      ['500', problem(500, 'internal_error')],
      ['503', problem(503, 'unavailable')],
      ['a redirect', text(307, '', { location: '/elsewhere' })],
      ['no JSON', text(200, 'true')],
      ['valid as text', json(200, { valid: 'true', verification: 'verified', attempts_left: 0 })],
      ['valid as a number', json(200, { valid: 1, verification: 'verified', attempts_left: 0 })],
      ['an answer that is too long', tooLong(200, VALID)],
      ['a proxy’s page with 502', proxyPage(502)],
      ['a proxy’s page with 200', proxyPage(200)],
      ['a proxy’s page with 403', proxyPage(403)],
      ['an empty answer', text(200, '', { 'content-type': 'application/json' })],
      ['an empty answer with 502', text(502, '')],
      ['a judgement with 502', json(502, VALID)],
      [
        'a judgement that is called a page',
        text(200, JSON.stringify(VALID), { 'content-type': 'text/html' }),
      ],
      ['a list', json(200, [VALID])],
      ['other JSON', json(200, { message: 'ok' })],
      ['a refusal that is not of the service', json(403, { code: 'forbidden', message: 'No.' })],
      ['a problem of another status', problem(403, 'rate_limited', {}, { status: 429 })],
      ['no number of attempts', json(200, { valid: false, verification: 'pending' })],
      ['half an attempt', json(200, { valid: false, verification: 'pending', attempts_left: 0.5 })],
      [
        'more attempts than there are',
        json(200, { valid: false, verification: 'pending', attempts_left: 6 }),
      ],
      ['valid with attempts left', json(200, { ...VALID, attempts_left: 1 })],
      ['valid and still pending', json(200, { ...VALID, verification: 'pending' })],
    ])('verifies once and signs nobody in after %s', async (_, behaviour) => {
      await withCode();
      service.script(judges(behaviour));
      const page = await visitor.submit('/verify', { code: '123456' });
      expect(page).toContain('We could not check the code. Ask for a new one.');
      expect(page).not.toContain('name="code"');
      expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    });

    it('verifies once when a connection that was kept alive is dead by then', async () => {
      await withCode();
      service.script((response, request) => {
        const isVerification = request.method === 'POST';
        (isVerification ? json(200, VALID) : thenDies(json(200, aSend())))(response, request);
      });
      const page = await visitor.submit('/verify', { code: '123456' });
      const verifications = requestsTo(`/v1/send/${ID}/verify`);
      expect(verifications).toHaveLength(1);
      expect(verifications[0]!.isLost).toBe(example.keepsConnections === true);
      expect(page).toContain(
        verifications[0]!.isLost ? 'We could not check the code. Ask for a new one.' : 'You are signed in as',
      );
    });

    it('repeats a creation with the same key when a connection that was kept alive is dead by then', async () => {
      await withCode();
      service.script((response, request) => {
        const isCreation = request.method === 'POST';
        (isCreation ? isCreated : thenDies(json(200, aSend())))(response, request);
      });
      expect(await visitor.submit('/resend')).toContain('We sent a code to');
      expect(creations().map(({ isLost }) => isLost)).toEqual(
        example.keepsConnections === true ? [true, false] : [false],
      );
      expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    });

    it('signs in with valid: true alone, for the session’s own send, and gives the session a new id', async () => {
      await withCode();
      const before = visitor.cookie;
      service.script(judges(json(200, VALID)));
      expect(await visitor.submit('/verify', { code: '012345', sendId: 'x', id: 'x' })).toContain(
        'You are signed in as',
      );
      expect(visitor.cookie).not.toBe(before);
      const [request] = requestsTo(`/v1/send/${ID}/verify`);
      expect(JSON.parse(request!.body)).toEqual({ code: '012345' });
      visitor.cookie = before;
      expect(await visitor.page()).not.toContain('signed in as');
    });

    it.each([
      ['pending', 'That code is wrong. Attempts left: 3.'],
      ['expired', 'That code has expired.'],
      ['locked', 'Too many wrong codes.'],
      ['verified', 'That code was used already.'],
    ])('tells people that a code is %s', async (verification, told) => {
      await withCode();
      service.script(judges(json(200, { valid: false, verification, attempts_left: 3 })));
      expect(await visitor.submit('/verify', { code: '123456' })).toContain(told);
    });

    it.each([
      ['without the session’s CSRF token', () => 'x', () => visitor.cookie],
      ['with another session’s CSRF token', () => new Visitor(running.url).csrf(), () => visitor.cookie],
      ['without a session', () => visitor.csrf(), () => ''],
    ])('refuses a form %s, and sends nothing', async (_, token, cookie) => {
      service.script(isCreated);
      await visitor.page();
      const csrf = await token();
      const response = await fetch(`${running.url}/code`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: cookie() },
        body: new URLSearchParams({ to: '+5511900000000', csrf }),
      });
      expect(response.status).toBe(403);
      await visitor.submit('/code', { to: TO });
      expect(creations().map(({ body }) => JSON.parse(body))).toEqual([{ to: TO }]);
    });

    it.each([
      ['is lost', resets],
      ['is a refusal', problem(404, 'send_not_found')],
      ['is a proxy’s page', proxyPage(502)],
      ['is empty', text(200, '')],
      ['is too long', tooLong(200, aSend({ status: 'failed' }))],
      ['is a list', json(200, [aSend({ status: 'failed' })])],
      ['is a send with another status', json(503, aSend({ status: 'failed' }))],
    ])('shows the page when the answer about the delivery %s', async (_, behaviour) => {
      await withCode();
      service.script(behaviour);
      const page = await visitor.page();
      expect(page).toContain('We sent a code to');
      expect(page).not.toContain('role="status"');
    });

    describe.each([
      ['stays silent', staysSilent],
      ['drips a body', dripsBody],
      ['drips headers', dripsHeaders],
    ])('with a service that %s', (_, behaviour) => {
      beforeEach(() => {
        visitor = new Visitor(strict.url);
      });

      it('repeats a creation with the same key and bytes', async () => {
        service.script(behaviour, isCreated);
        expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
        expect(creations().length).toBeGreaterThan(1);
        expect(new Set(creations().map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
        expect(new Set(creations().map(({ body }) => body)).size).toBe(1);
      });

      it('verifies once and signs nobody in', async () => {
        await withCode();
        service.script(judges(behaviour));
        const page = await visitor.submit('/verify', { code: '123456' });
        expect(page).toContain('We could not check the code. Ask for a new one.');
        expect(requestsTo(`/v1/send/${ID}/verify`)).toHaveLength(1);
      });
    });

    it('sends no new code before the pause is over, and says how long to wait', async () => {
      visitor = new Visitor(strict.url);
      await withCode();
      const page = await visitor.submit('/resend');
      expect(page).toMatch(/Wait \d+ seconds before you ask for a new code\./);
      expect(creations()).toHaveLength(0);
    });

    /** Sends a form of so many bytes in chunks, without saying how long it is. */
    const sendChunks = async (bytes: number) => {
      const csrf = await visitor.csrf();
      const start = new URLSearchParams({ csrf, to: TO, more: '' }).toString();
      const chunks = [start, 'x'.repeat(bytes - start.length)];
      const body = ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk)));
      return fetch(`${running.url}/code`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: visitor.cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body,
        duplex: 'half',
      });
    };

    it('takes a form that comes in chunks', async () => {
      service.script(isCreated);
      expect((await sendChunks(FORM_BYTES_MAX)).status).toBe(303);
      expect(creations()).toHaveLength(1);
    });

    it('refuses a form that is too long, whether it says so or not', async () => {
      service.script(isCreated);
      expect((await sendChunks(FORM_BYTES_MAX + 1)).status).toBe(413);
      const csrf = await visitor.csrf();
      const response = await fetch(`${running.url}/code`, {
        method: 'POST',
        headers: { cookie: visitor.cookie },
        body: new URLSearchParams({ csrf, to: TO, more: 'x'.repeat(FORM_BYTES_MAX) }),
      });
      expect(response.status).toBe(413);
      expect(creations()).toHaveLength(0);
    });

    it.each([
      ['ONECODE_API_KEY', /ONECODE_API_KEY|apiKey/],
      ['ONECODE_URL', /ONECODE_URL|baseUrl/],
    ])('takes no request without %s, and says what is missing', async (name, said) => {
      const env = { ONECODE_URL: service.url, ONECODE_API_KEY: KEY, [name]: '' };
      const { running: started, output } = await startOnce(example, folder, env);
      const page = started && (await fetch(started.url));
      started?.stop();
      expect(page?.status).toBe(example.runsPerRequest === true ? 500 : undefined);
      expect((await page?.text()) ?? '').not.toContain('ONECODE');
      await until('what is missing', () => said.test(started?.output() ?? output));
      expect(started?.output() ?? output).not.toContain(KEY);
    });

    it('sets the cookie for https alone with HTTPS=1', async () => {
      await visitor.page();
      expect(visitor.attributes).not.toMatch(/secure/i);
      visitor = new Visitor(strict.url);
      await visitor.page();
      expect(visitor.attributes).toMatch(/; secure(;|$)/i);
    });
  });
}
