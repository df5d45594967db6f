import { equal, match } from 'node:assert/strict';
import { describeIf } from '@onecode/testing';
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
  useService,
  type Behaviour,
} from '@onecode/testing/breaking-service';
import {
  EXAMPLES,
  isInstalled,
  PREPARE_MS_MAX,
  prepareExample,
  removeExample,
  startExample,
  type RunningExample,
} from './exampleProcess.js';

const TO = '+5511987654321';
const ID = aSend().id;

/** A browser without a screen: it keeps the cookie and sends the forms of the page. */
class Visitor {
  cookie = '';
  /** The attributes of the cookie that was set last. */
  attributes = '';
  constructor(private readonly url: string) {}

  async page(): Promise<string> {
    const response = await this.#request('/');
    return response.text();
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

for (const example of EXAMPLES) {
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
      folder = prepareExample(example);
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
      if (folder) removeExample(folder);
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
      ['half an answer', cutsOff(200, { valid: true, verification: 'verified', attempts_left: 0 })],
      ['500', problem(500, 'internal_error')],
      ['503', problem(503, 'unavailable')],
      ['a redirect', text(307, '', { location: '/elsewhere' })],
      ['no JSON', text(200, 'true')],
      ['valid as text', json(200, { valid: 'true', verification: 'verified', attempts_left: 0 })],
      ['valid as a number', json(200, { valid: 1, verification: 'verified', attempts_left: 0 })],
    ])('verifies once and signs nobody in after %s', async (_, behaviour) => {
      await withCode();
      service.script(judges(behaviour));
      const page = await visitor.submit('/verify', { code: '123456' });
      expect(page).toContain('We could not check the code. Ask for a new one.');
      expect(page).not.toContain('name="code"');
      expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    });

    it('signs in with valid: true alone, for the session’s own send, and gives the session a new id', async () => {
      await withCode();
      const before = visitor.cookie;
      service.script(judges(json(200, { valid: true, verification: 'verified', attempts_left: 0 })));
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

    it('sets the cookie for https alone with HTTPS=1', async () => {
      await visitor.page();
      expect(visitor.attributes).not.toMatch(/secure/i);
      visitor = new Visitor(strict.url);
      await visitor.page();
      expect(visitor.attributes).toMatch(/; secure(;|$)/i);
    });
  });
}
