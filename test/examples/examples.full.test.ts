import { doesNotMatch, equal, match } from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeInBrowser, ProcessStack, STACK_START_MS_MAX, until, useBrowser } from '@onecode/testing';
import {
  aSend,
  json,
  KEY,
  problem,
  resets,
  RIGHT,
  staysSilent,
  text,
  useService,
  type Behaviour,
} from '@onecode/testing/breaking-service';
import {
  EXAMPLES,
  PREPARE_MS_MAX,
  prepareExample,
  startExample,
  type RunningExample,
} from './runningExample.js';

const TO = '+5511987654321';
const VERIFICATION = `/v1/send/${aSend().id}/verify`;
const FORM_BYTES_MAX = 4096;
/** A proxy's answer instead of the service's; visitors must not see it. */
const proxyPage = (status: number): Behaviour =>
  text(status, '<html><h1>proxy-made page</h1></html>', { 'content-type': 'text/html' });
const isCreated: Behaviour = (response, request) =>
  json(request.method === 'POST' ? 202 : 200, aSend())(response, request);
/** Answers verifications with this behaviour, and reads with a send. */
const judges =
  (behaviour: Behaviour): Behaviour =>
  (response, request) =>
    (request.method === 'POST' ? behaviour : json(200, aSend()))(response, request);

/** A browser without a screen: it keeps the cookie and sends the forms of the page. */
class Visitor {
  cookie = '';
  /** The attributes of the cookie that was set last. */
  attributes = '';
  constructor(private readonly url: string) {}

  async page(): Promise<string> {
    const response = await this.#request('/');
    const page = await response.text();
    doesNotMatch(page, /proxy-made/);
    return page;
  }

  async submit(action: string, fields: Record<string, string> = {}): Promise<string> {
    const response = await this.#request(action, new URLSearchParams(fields));
    equal(response.status, 303);
    return this.page();
  }

  async #request(path: string, body?: URLSearchParams): Promise<Response> {
    const init: RequestInit = {
      redirect: 'manual',
      headers: { cookie: this.cookie, 'sec-fetch-site': 'same-origin' },
    };
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

/** The SDK's tests cover network faults; these tests cover how the examples react to them. */
describe.each(EXAMPLES)('the %s example', (name) => {
  const service = useService();
  const folder = mkdtempSync(join(tmpdir(), `onecode-${name}-`));
  let running: RunningExample;
  /** Behind https, with little patience for the service and a long pause before a new code. */
  let strict: RunningExample;
  let visitor: Visitor;
  beforeAll(async () => {
    prepareExample(name, folder);
    service.script(json(200, aSend()));
    const env = { ONECODE_URL: service.url, ONECODE_API_KEY: KEY };
    running = await startExample(name, folder, env);
    const more = {
      HTTPS: '1',
      ONECODE_TIMEOUT_MS: '500',
      RESEND_AFTER_SECONDS: '600',
      SESSIONS_MAX: '5',
    };
    strict = await startExample(name, folder, { ...env, ...more });
  }, PREPARE_MS_MAX);
  afterAll(() => {
    running?.stop();
    strict?.stop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    visitor = new Visitor(running.url);
  });

  const requestsTo = (path: string) => service.requests.filter((request) => request.path === path);
  const creations = () => requestsTo('/v1/send');
  const keys = () => creations().map(({ headers }) => headers['idempotency-key']);
  const withCode = async (to = TO) => {
    service.script(isCreated);
    expect(await visitor.submit('/code', { to })).toContain('We sent a code to');
    service.requests.length = 0;
  };

  it.each<[string, Behaviour, string]>([
    ['a lost answer', resets, 'Codes cannot be sent at the moment. Try again.'],
    ['an answer of a proxy', proxyPage(403), 'Codes cannot be sent at the moment. Try again.'],
    [
      'a limit, before which an answer may have been lost',
      problem(429, 'rate_limited', { 'retry-after': '31' }),
      'Too many codes were asked for.',
    ],
  ])('continues with the same key after %s', async (_, behaviour, message) => {
    service.script(behaviour);
    expect(await visitor.submit('/code', { to: TO })).toContain(message);
    service.script(isCreated);
    expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
    expect(creations().length).toBeGreaterThan(1);
    expect(new Set(keys()).size).toBe(1);
  });

  it('sends a new code with a new key after the send of the former key has ended', async () => {
    service.script(resets);
    await visitor.submit('/code', { to: TO });
    const [key] = keys();
    service.requests.length = 0;
    const expired = aSend({ verification: 'expired' });
    service.script((response, request) =>
      json(request.method === 'POST' ? 202 : 200, keys().at(-1) === key ? expired : aSend())(
        response,
        request,
      ),
    );
    expect(await visitor.submit('/code', { to: TO })).toContain('We sent a code to');
    expect(keys()).toEqual([key, expect.any(String)]);
    expect(new Set(keys()).size).toBe(2);
  });

  it('verifies a code for the newest send, then for the send before it, and for no older send', async () => {
    const ids = [
      '0199c7a2-6f02-7d11-8a35-000000000001',
      '0199c7a2-6f02-7d11-8a35-000000000002',
      '0199c7a2-6f02-7d11-8a35-000000000003',
    ];
    for (const id of ids) {
      service.script((response, request) =>
        json(request.method === 'POST' ? 202 : 200, aSend({ id }))(response, request),
      );
      await visitor.submit(id === ids[0] ? '/code' : '/resend', { to: TO });
    }
    service.requests.length = 0;
    service.script(judges(json(200, { valid: false, verification: 'pending', attempts_left: 4 })));
    expect(await visitor.submit('/verify', { code: '123456' })).toContain('Attempts left: 4.');
    const verified = service.requests.filter(({ path }) => path.endsWith('/verify')).map(({ path }) => path);
    expect(verified).toEqual([ids[2], ids[1]].map((id) => `/v1/send/${id}/verify`));
  });

  it('returns the same outcome for both clicks on a button', async () => {
    await withCode();
    // The second click has to arrive before the outcome of the first.
    service.script(
      judges((response, request) => void setTimeout(() => json(200, RIGHT)(response, request), 500)),
    );
    const submit = () =>
      fetch(`${running.url}/verify`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' },
        body: new URLSearchParams({ code: '012345' }),
      });
    const answers = await Promise.all([submit(), submit()]);
    const cookies = answers.map(({ headers }) => headers.get('set-cookie')?.split(';')[0]);
    expect(cookies[1]).toBe(cookies[0]);
    expect(requestsTo(VERIFICATION)).toHaveLength(1);
    visitor.cookie = cookies[0]!;
    expect(await visitor.page()).toContain('You are signed in as');
  });

  it('sends a new code with a new key on request', async () => {
    service.script(isCreated);
    await visitor.submit('/code', { to: TO });
    await visitor.submit('/resend');
    expect(new Set(keys()).size).toBe(2);
  });

  it('shows that a number is invalid, and starts again', async () => {
    service.script(problem(422, 'invalid_recipient'));
    expect(await visitor.submit('/code', { to: '0770' })).toContain('No code can be sent to this number.');
    service.script(isCreated);
    await visitor.submit('/code', { to: TO });
    expect(new Set(keys()).size).toBe(2);
  });

  it.each([
    ['rejected_by_provider', 'We could not reach this number on WhatsApp.'],
    ['attempts_exhausted', 'The code could not be delivered. Try again.'],
    ['expired_before_delivery', 'The code could not be delivered in time.'],
  ] as const)('shows that a delivery failed: %s', async (failure_reason, message) => {
    await withCode();
    service.script(json(200, aSend({ status: 'failed', failure_reason })));
    expect(await visitor.page()).toContain(message);
  });

  it.each([
    ['is lost', resets],
    ['is a refusal', problem(404, 'send_not_found')],
    ['is a proxy’s page', proxyPage(502)],
  ])('shows its page without a status when the response to the status request %s', async (_, behaviour) => {
    await withCode();
    service.script(behaviour);
    const page = await visitor.page();
    expect(page).toContain('We sent a code to');
    expect(page).not.toContain('role="status"');
  });

  it.each([
    ['a lost answer', resets],
    ['500', problem(500, 'internal_error')],
    ['a proxy’s page', proxyPage(200)],
    ['a result with a text as valid', json(200, { ...RIGHT, valid: 'true' })],
  ])('makes one verification and signs no one in after %s', async (_, behaviour) => {
    await withCode();
    service.script(judges(behaviour));
    const page = await visitor.submit('/verify', { code: '123456' });
    expect(page).toContain('Something went wrong. Ask for a new code.');
    expect(page).not.toContain('name="code"');
    expect(requestsTo(VERIFICATION)).toHaveLength(1);
  });

  it('waits for a verification only up to its time limit, and then sends a new code without a pause', async () => {
    visitor = new Visitor(strict.url);
    await withCode();
    service.script(judges(staysSilent));
    const page = await visitor.submit('/verify', { code: '123456' });
    expect(page).toContain('Something went wrong. Ask for a new code.');
    service.script(isCreated);
    expect(await visitor.submit('/resend')).toContain('We sent a code to');
  });

  it('signs in only with valid: true for the session’s own send, and gives the session a new id', async () => {
    await withCode();
    const before = visitor.cookie;
    service.script(judges(json(200, RIGHT)));
    expect(
      await visitor.submit('/verify', { code: ' 01\u00a02-\u0663\u06645', sendId: 'x', id: 'x' }),
    ).toContain('You are signed in as');
    expect(visitor.cookie).not.toBe(before);
    const [request] = requestsTo(VERIFICATION);
    expect(JSON.parse(request!.body)).toEqual({ code: '012345' });
    visitor.cookie = before;
    expect(await visitor.page()).not.toContain('signed in as');
  });

  it.each([
    ['pending', 'That code is not right. Attempts left: 3.'],
    ['expired', 'This code is no longer valid.'],
    ['locked', 'Too many wrong codes.'],
    ['verified', 'This code was already used.'],
  ])('shows that a code is %s', async (verification, message) => {
    await withCode();
    service.script(judges(json(200, { valid: false, verification, attempts_left: 3 })));
    expect(await visitor.submit('/verify', { code: '123456' })).toContain(message);
  });

  it.each([
    ['another site', 403, { 'sec-fetch-site': 'cross-site' }],
    ['another part of this site', 403, { 'sec-fetch-site': 'same-site' }],
    ['another origin', 403, { origin: 'https://codes.example.com' }],
    ['a client that is not a browser', 403, {}],
    ['this origin, by an older browser', 303, { origin: 'this' }],
  ])('answers a form of %s with %i', async (_, status, headers: Record<string, string>) => {
    await withCode();
    const response = await fetch(`${running.url}/resend`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie: visitor.cookie,
        ...headers,
        ...(headers['origin'] === 'this' && { origin: running.url }),
      },
    });
    expect(response.status).toBe(status);
    expect(creations()).toHaveLength(status === 303 ? 1 : 0);
  });

  it('starts a session when a number is entered, and not for a page view', async () => {
    visitor.cookie = 'session=unknown';
    await visitor.page();
    for (const action of ['/resend', '/verify', '/restart', '/sign-out']) await visitor.submit(action);
    expect([visitor.cookie, service.requests]).toEqual(['session=unknown', []]);
    await withCode();
    const before = visitor.cookie;
    expect(before).not.toBe('session=unknown');
    await visitor.submit('/resend');
    expect(visitor.cookie).toBe(before);
  });

  it('sends no new code during the pause, in any session, and shows how long to wait', async () => {
    const wait = /You can ask for a new code in \d+ s\./;
    visitor = new Visitor(strict.url);
    await withCode('+5511987654322');
    expect(await visitor.submit('/resend')).toMatch(wait);
    visitor = new Visitor(strict.url);
    expect(await visitor.submit('/code', { to: '+55 (11) 98765-4322' })).toMatch(wait);
    expect(creations()).toHaveLength(0);
  });

  it('keeps sessions up to its limit, and drops the oldest', async () => {
    const visitors = Array.from({ length: 6 }, () => new Visitor(strict.url));
    service.script(isCreated);
    for (const [at, one] of visitors.entries()) await one.submit('/code', { to: `+551198765440${at}` });
    const pages = await Promise.all(visitors.map((one) => one.page()));
    expect(pages.map((page) => page.includes('We sent a code to'))).toEqual([
      false,
      true,
      true,
      true,
      true,
      true,
    ]);
  });

  it('refuses a form that is too long, with or without a Content-Length', async () => {
    service.script(isCreated);
    const start = new URLSearchParams({ to: TO, more: '' }).toString();
    /** Sends a form of this many bytes in chunks, without a Content-Length. */
    const submit = (bytes: number, inChunks: boolean): Promise<Response> => {
      const form = start.padEnd(bytes, 'x');
      const parts = [form.slice(0, 100), form.slice(100)].map((part) => new TextEncoder().encode(part));
      return fetch(`${running.url}/code`, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        ...(inChunks ? { body: ReadableStream.from(parts), duplex: 'half' } : { body: form }),
      });
    };
    expect((await submit(FORM_BYTES_MAX, true)).status).toBe(303);
    expect(creations()).toHaveLength(1);
    for (const inChunks of [true, false])
      expect((await submit(FORM_BYTES_MAX + 1, inChunks)).status).toBe(413);
    expect(creations()).toHaveLength(1);
  });

  it.each(['apiKey', 'baseUrl'])(
    'does not start without %s, and names the missing option',
    async (missing) => {
      const env = { ONECODE_URL: service.url, ONECODE_API_KEY: KEY };
      const without = { [missing === 'apiKey' ? 'ONECODE_API_KEY' : 'ONECODE_URL']: '' };
      const started = await startExample(name, folder, { ...env, ...without });
      started.stop();
      expect(started.isServing).toBe(false);
      await until('what is missing', () => started.output().includes(missing));
      expect(started.output()).not.toContain(KEY);
    },
  );

  it('sets a secure cookie with HTTPS=1', async () => {
    await withCode();
    expect(visitor.attributes).not.toMatch(/secure/i);
    visitor = new Visitor(strict.url);
    await withCode('+5511987654330');
    expect(visitor.attributes).toMatch(/; secure(;|$)/i);
  });

  describeInBrowser('with the built processes, in a browser', () => {
    const browser = useBrowser();
    let stack: ProcessStack;
    let real: RunningExample;
    beforeAll(async () => {
      stack = await ProcessStack.start();
      await stack.addSender();
      const account = await stack.onecode('account create --name Shop --free-quota 100');
      const env = {
        ONECODE_URL: stack.apis[0]!,
        ONECODE_API_KEY: await stack.makeKey(String(account['id']), 'live'),
      };
      real = await startExample(name, folder, env);
    }, STACK_START_MS_MAX);
    afterAll(async () => {
      real?.stop();
      await stack?.stop();
    });

    const ask = async (to: string) => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(real.url);
      await page.getByLabel(/^WhatsApp number/).fill(to);
      await page.getByRole('button', { name: 'Send code' }).dblclick();
      await page.getByText(`We sent a code to ${to}`).waitFor();
      const { code } = (await until('the message', () => stack.simulator.message(to))) as unknown as {
        code: string;
      };
      return { page, code };
    };

    it('signs in a visitor who types the code, and accepts a code only in its own session', async () => {
      const first = await ask('+5511987654301');
      const second = await ask('+5511987654302');
      await second.page.getByLabel('Code').fill(first.code);
      await second.page.getByRole('button', { name: 'Sign in' }).click();
      await second.page.getByText('That code is not right.').waitFor();
      await first.page.getByLabel('Code').fill(first.code);
      await first.page.getByRole('button', { name: 'Sign in' }).dblclick();
      await first.page.getByText('You are signed in as +5511987654301.').waitFor();
      await first.page.reload();
      await first.page.getByText('You are signed in as +5511987654301.').waitFor();
      await Promise.all([first.page.context().close(), second.page.context().close()]);
    });
  });
});
